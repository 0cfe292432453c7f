// A read without the read-write lock against a write under it. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_rwlock_wrlock(&mu);
    shared = 1;                                         // expect: data-race write #1
    pthread_rwlock_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    arg = (char *)arg + shared;                         // expect: data-race read #1
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
