// Section 5, HAPPENS_BEFORE and HAPPENS_AFTER: hand-made synchronisation that no detector can see is
// explained to it. Without them this is patterns/s631_simple_bad. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;
    ANNOTATE_HAPPENS_BEFORE(&var);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_HAPPENS_AFTER(&var);
    var = 2;
    return arg;
}

int main(void) {
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
