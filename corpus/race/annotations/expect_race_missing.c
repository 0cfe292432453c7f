// Section 5, EXPECT_RACE where there is none: the lock is held by both. Every mode says that the race is missing.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    var = 1;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    var = 2;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    ANNOTATE_EXPECT_RACE(&var);                         // expect: expected-race-missing #1
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
