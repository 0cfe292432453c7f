// Section 5, HAPPENS_BEFORE with no HAPPENS_AFTER to match, and an AFTER on another address: half an arc is none, and the
// ids must agree. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var, other;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;                                            // expect: data-race write #1
    ANNOTATE_HAPPENS_BEFORE(&var);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_HAPPENS_AFTER(&other);
    var = 2;                                            // expect: data-race write #1
    return arg;
}

int main(void) {
    var = other = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
