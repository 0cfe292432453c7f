// Section 5, IGNORE_READS and IGNORE_WRITES: what is between BEGIN and END is not looked at. Each hides one end of a race.
// Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

long a_flag, a_log;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    a_flag = 1;
    ANNOTATE_IGNORE_WRITES_BEGIN();
    a_log = 1;
    ANNOTATE_IGNORE_WRITES_END();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_IGNORE_READS_BEGIN();
    long seen = a_flag;
    ANNOTATE_IGNORE_READS_END();
    a_log = 2 + seen;
    return arg;
}

int main(void) {
    a_flag = a_log = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
