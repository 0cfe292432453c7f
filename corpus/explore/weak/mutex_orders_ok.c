// expect(sc c11): nothing
// Relaxed accesses under a mutex: lock and unlock order them, so no read is stale.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&mu);
    int n = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, n + 1, memory_order_relaxed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load_explicit(&counter, memory_order_relaxed) == 2);
    return 0;
}
