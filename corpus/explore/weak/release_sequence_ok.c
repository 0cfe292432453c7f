// expect(sc c11): nothing
// A relaxed read-modify-write by another thread continues the release sequence: whoever reads it synchronises with the release.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int data, stage;

void *writer(void *arg) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&stage, 1, memory_order_release);
    return arg;
}

void *relay(void *arg) {
    int one = 1;
    atomic_compare_exchange_strong_explicit(&stage, &one, 2, memory_order_relaxed, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        assert(atomic_load_explicit(&data, memory_order_relaxed) == 42);
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, relay, 0);
    pthread_create(&c, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
