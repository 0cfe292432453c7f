// Reading under the read lock is fine against a writer under the write lock; what the reader then writes without the lock
// is not. The reader comes first: reader unlock to writer lock is an arc of 4.4.1, but the write is after the unlock.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long shared, summary;
pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_rwlock_rdlock(&mu);
    long seen = shared;
    pthread_rwlock_unlock(&mu);
    summary = seen;                                     // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_rwlock_wrlock(&mu);
    shared = 2;
    summary = 2;                                        // expect: data-race write #1
    pthread_rwlock_unlock(&mu);
    return arg;
}

int main(void) {
    shared = summary = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
