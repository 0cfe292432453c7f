// NOT_HAPPENS_BEFORE_MUTEX: the lock orders nothing, in happens-before mode too, so that what it hides is seen; what it
// really guards is still guarded.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int guarded, beside;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    beside = 1;                                         // expect: data-race write #1
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mu);
        guarded++;
        pthread_mutex_unlock(&mu);
    }
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mu);
        guarded++;
        pthread_mutex_unlock(&mu);
    }
    beside = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    guarded = beside = 0;
    ANNOTATE_NOT_HAPPENS_BEFORE_MUTEX(&mu);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
