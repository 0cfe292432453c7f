// Section 5, BENIGN_RACE: races on this address are said to be harmless, here a statistics counter. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int hits;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    hits++;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    hits++;
    return arg;
}

int main(void) {
    ANNOTATE_BENIGN_RACE(&hits);
    hits = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
