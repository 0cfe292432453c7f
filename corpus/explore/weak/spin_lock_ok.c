// expect(sc c11): nothing
// A spin lock that acquires and releases.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int taken, counter;

void *worker(void *arg) {
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) sched_yield();
    int n = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, n + 1, memory_order_relaxed);
    atomic_store_explicit(&taken, 0, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);
    return 0;
}
