// A cycle of a mutex and a read-write lock that one side takes for writing and the other holds for reading. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    pthread_rwlock_wrlock(&rw);                         // expect: lock-order #1
    pthread_rwlock_unlock(&rw);
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_rwlock_rdlock(&rw);
    pthread_mutex_lock(&mu);                            // expect: lock-order #1
    pthread_mutex_unlock(&mu);
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {

    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
