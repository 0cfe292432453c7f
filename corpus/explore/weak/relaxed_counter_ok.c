// expect(sc c11): nothing
// Relaxed read-modify-writes lose nothing: each reads the last value in the modification order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3 };
atomic_int counter;

void *add(void *arg) {
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(atomic_load_explicit(&counter, memory_order_relaxed) == THREADS);
    return 0;
}
