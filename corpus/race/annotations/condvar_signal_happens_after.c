// CONDVAR_SIGNAL and HAPPENS_BEFORE are the same promise, CONDVAR_LOCK_WAIT and HAPPENS_AFTER the same expectation.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int there, back;
char key, other;
atomic_int step; // relaxed: synchronises nothing

void *work(void *arg) {
    there = 1;
    ANNOTATE_CONDVAR_SIGNAL(&key);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 2) usleep(100);
    ANNOTATE_CONDVAR_WAIT(&other);
    back = 2;
    return arg;
}

int main(void) {
    pthread_t t;
    there = back = 0;
    pthread_create(&t, 0, work, 0);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 1) usleep(100);
    ANNOTATE_HAPPENS_AFTER(&key);
    there = 2;
    back = 1;
    ANNOTATE_HAPPENS_BEFORE(&other);
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
