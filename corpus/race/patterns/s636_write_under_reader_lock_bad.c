// 6.3.6, write during a reader lock. Reader unlock to reader lock is no arc, not even in hb (4.4.1 lists the three that
// are), and a lock held for reading is in no writer lockset: every mode reports, though the run has them one after
// the other.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int var;
pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_rwlock_rdlock(&mu);
    var = var + 1;                                      // expect: data-race write #1 | read #1
    pthread_rwlock_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_rwlock_rdlock(&mu);
    var = var + 1;                                      // expect: data-race write #1 | read #1
    pthread_rwlock_unlock(&mu);
    return arg;
}

int main(void) {
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
