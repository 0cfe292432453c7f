// Section 5, PURE_HAPPENS_BEFORE_MUTEX: this one lock orders as in the pure happens-before mode, even in hybrid. The
// hand-over that hybrid reports in hidden/flag_under_lock_bad is silent here, in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int var, flag;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;
    pthread_mutex_lock(&mu);
    flag = 1;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    int ready = flag;
    pthread_mutex_unlock(&mu);
    if (ready) var = 2;
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
