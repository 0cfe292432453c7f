// As rwlock_writer, without the annotations: no detector can know what the assembly does, so every mode reports the
// counter, though the program is correct. This is what section 5 is for.
#include <pthread.h>
#include <unistd.h>
#include "raddle/annotations.h"

int word;
long counter;

// A lock that instrumentation cannot see: exchange and store in assembly.
static void spin_lock(int *word) {
    for (int busy = 1;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(busy), "+m"(*word) : : "memory");
        if (!busy) break;
        usleep(10);
        busy = 1;
    }
}

static void spin_unlock(int *word) {
    __asm__ volatile("movl $0, %0" : "=m"(*word) : : "memory");
}

__attribute__((noinline)) void count(void) { counter++; }     // expect: data-race write write #1 | read write #1

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
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return counter != 1500;
}
