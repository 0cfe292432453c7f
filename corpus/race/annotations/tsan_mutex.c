// tsan_interface.h's calls, under their own names: the same spinlock as a mutex. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <unistd.h>
#include "raddle/annotations.h"

int word;
long counter;

// A lock that instrumentation cannot see: exchange and store in assembly.
static void spin_lock(int *word) {
    __tsan_mutex_pre_lock(word, 0);
    for (int busy = 1;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(busy), "+m"(*word) : : "memory");
        if (!busy) break;
        usleep(10);
        busy = 1;
    }
    __tsan_mutex_post_lock(word, 0, 0);
}

static void spin_unlock(int *word) {
    __tsan_mutex_pre_unlock(word, 0);
    __asm__ volatile("movl $0, %0" : "=m"(*word) : : "memory");
    __tsan_mutex_post_unlock(word, 0);
}

__attribute__((noinline)) void count(void) { counter++; }

void *work(void *arg) {
    for (int i = 0; i < 500; i++) {
        spin_lock(&word);
        count();
        spin_unlock(&word);
    }
    return arg;
}

int main(void) {
    counter = 0;
    __tsan_mutex_create(&word, 0);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    __tsan_mutex_destroy(&word, 0);
    return counter != 1500;
}
