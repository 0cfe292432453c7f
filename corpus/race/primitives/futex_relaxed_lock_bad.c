// A spinning lock of the shape of futex_lock_ok whose unlock is relaxed: mutual exclusion, but no order. On other processors the
// next holder may see the old value. Every mode reports; the two critical sections come one after the other.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int word;
long count;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void lock(void) {
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0) usleep(10);
}

static void unlock(void) { atomic_store_explicit(&word, 0, memory_order_relaxed); }

void *first(void *arg) {
    lock();
    count = 1;                                          // expect: data-race write #1
    unlock();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    lock();
    count = 2;                                          // expect: data-race write #1
    unlock();
    return arg;
}

int main(void) {
    count = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
