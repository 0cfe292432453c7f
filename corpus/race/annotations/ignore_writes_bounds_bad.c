// The bounds of the ignoring annotations: IGNORE_WRITES ends at END, and IGNORE_READS ignores no writes. (IGNORE_WRITES
// ignores reads as well, as ThreadSanitizer does.) Both races are found in every mode.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

long inside, after, read_inside;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    inside = 1;                                         // expect: data-race write #1
    read_inside = 1;
    ANNOTATE_IGNORE_WRITES_BEGIN();
    ANNOTATE_IGNORE_WRITES_END();
    after = 1;                                          // expect: data-race write #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_IGNORE_WRITES_BEGIN();
    long seen = read_inside;
    ANNOTATE_IGNORE_WRITES_END();
    ANNOTATE_IGNORE_READS_BEGIN();
    inside = 2;                                         // expect: data-race write #1
    ANNOTATE_IGNORE_READS_END();
    after = 2 + seen;                                   // expect: data-race write #2
    return arg;
}

int main(void) {
    inside = after = read_inside = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
