// Section 5, PURE_HAPPENS_BEFORE_MUTEX on one lock leaves the others as they are: the hand-over goes through `other`,
// which is not annotated, so hybrid and fast report; hb is silent.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var, flag;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;                                            // expect(hybrid fast): data-race write #1
    pthread_mutex_lock(&other);
    flag = 1;
    pthread_mutex_unlock(&other);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&other);
    int ready = flag;
    pthread_mutex_unlock(&other);
    if (ready) var = 2;                                 // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(&mu);
    var = flag = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
