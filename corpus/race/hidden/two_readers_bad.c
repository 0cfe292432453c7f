// A race that even two readers' locks do not hide: reader unlock to reader lock is no arc in any mode (4.4.1).
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data, table;
pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    data = 1;                                           // expect: data-race write #1
    pthread_rwlock_rdlock(&mu);
    pthread_rwlock_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_rwlock_rdlock(&mu);
    long seen = table;
    pthread_rwlock_unlock(&mu);
    data = 2 + seen;                                    // expect: data-race write #1
    return arg;
}

int main(void) {
    data = table = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
