// Section 5, RWLOCK_ACQUIRED(lock, 0): a lock held for reading. Two writes under it are a race in every mode, as in 6.3.6.
// The annotations alone stand for the lock here.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int word, var;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    ANNOTATE_RWLOCK_ACQUIRED(&word, 0);
    var = 1;                                            // expect: data-race write #1
    ANNOTATE_RWLOCK_RELEASED(&word, 0);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_RWLOCK_ACQUIRED(&word, 0);
    var = 2;                                            // expect: data-race write #1
    ANNOTATE_RWLOCK_RELEASED(&word, 0);
    return arg;
}

int main(void) {
    ANNOTATE_RWLOCK_CREATE(&word);
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
