// Section 5, HAPPENS_AFTER that comes too early: an arc needs the SIGNAL to be observed before the WAIT (4.1). The second
// thread says HAPPENS_AFTER before the first has said HAPPENS_BEFORE. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var;
atomic_int step, early; // relaxed: fix the order of the run, synchronise nothing

void *first(void *arg) {
    while (!atomic_load_explicit(&early, memory_order_relaxed)) usleep(100);
    var = 1;                                            // expect: data-race write #1
    ANNOTATE_HAPPENS_BEFORE(&var);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    ANNOTATE_HAPPENS_AFTER(&var);
    atomic_store_explicit(&early, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    var = 2;                                            // expect: data-race write #1
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
