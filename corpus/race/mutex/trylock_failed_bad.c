// trylock failed and the program goes on all the same. A failed trylock is no lock: every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step, end; // relaxed: fix the order of the run, synchronise nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&end, memory_order_relaxed)) usleep(100);
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int failed = pthread_mutex_trylock(&mu);
    shared = 2;                                         // expect: data-race write #1
    if (!failed) pthread_mutex_unlock(&mu);
    atomic_store_explicit(&end, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
