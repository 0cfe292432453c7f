// Section 5, BENIGN_RACE holds for its own bytes only: the SIZED form covers the array `hits`, not its neighbour
// `balance`, which is 8-byte aligned right behind it. Every mode reports the neighbour, and nothing else.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

struct { int hits[2]; long balance; } stats;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    stats.hits[1]++;
    stats.balance = 1;                                  // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    stats.hits[1]++;
    stats.balance = 2;                                  // expect: data-race write #1
    return arg;
}

int main(void) {
    ANNOTATE_BENIGN_RACE_SIZED(stats.hits, sizeof stats.hits, "statistics may be imprecise");
    stats.hits[1] = 0;
    stats.balance = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
