// helgrind.h's client requests, under their own names: the same spinlock as a mutex. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <unistd.h>
#include "raddle/annotations.h"

int word;
long counter;

// A lock that instrumentation cannot see: exchange and store in assembly.
static void spin_lock(int *word) {
    VALGRIND_HG_MUTEX_LOCK_PRE(word, 0);
    for (int busy = 1;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(busy), "+m"(*word) : : "memory");
        if (!busy) break;
        usleep(10);
        busy = 1;
    }
    VALGRIND_HG_MUTEX_LOCK_POST(word);
}

static void spin_unlock(int *word) {
    VALGRIND_HG_MUTEX_UNLOCK_PRE(word);
    __asm__ volatile("movl $0, %0" : "=m"(*word) : : "memory");
    VALGRIND_HG_MUTEX_UNLOCK_POST(word);
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
    VALGRIND_HG_MUTEX_INIT_POST(&word, 0);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    VALGRIND_HG_MUTEX_DESTROY_PRE(&word);
    return counter != 1500;
}
