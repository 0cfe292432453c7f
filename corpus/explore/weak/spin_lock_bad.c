// expect(sc): nothing
// expect(c11): assertion
// A spin lock that unlocks with a relaxed store: the next owner may not see what the last one wrote.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int taken, counter;

void *worker(void *arg) {
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) sched_yield();
    int n = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, n + 1, memory_order_relaxed);
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);                 // expect: assertion here
    return 0;
}
