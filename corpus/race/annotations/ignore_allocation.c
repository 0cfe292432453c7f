// A block allocated where writes are ignored was never written: who gets it by a relaxed pointer races with nobody.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "raddle/annotations.h"

int *_Atomic shared;

void *work(void *arg) {
    int *p;
    while (!(p = atomic_load_explicit(&shared, memory_order_relaxed))) usleep(100);
    *p = 42;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN();
    int *p = malloc(sizeof *p);
    ANNOTATE_IGNORE_READS_AND_WRITES_END();
    atomic_store_explicit(&shared, p, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
