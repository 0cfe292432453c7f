// A sequence lock done by the book: the data itself is atomic and relaxed, fences order it, and a torn read is thrown away.
// Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_uint sequence;
atomic_long low, high;

void *writer(void *arg) {
    for (long i = 1; i <= 1000; i++) {
        atomic_store_explicit(&sequence, (unsigned)(2 * i - 1), memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&low, i, memory_order_relaxed);
        atomic_store_explicit(&high, -i, memory_order_relaxed);
        atomic_store_explicit(&sequence, (unsigned)(2 * i), memory_order_release);
    }
    return arg;
}

void *reader(void *arg) {
    for (int i = 0; i < 500; i++) {
        unsigned before, after;
        long a, b;
        do {
            before = atomic_load_explicit(&sequence, memory_order_acquire);
            a = atomic_load_explicit(&low, memory_order_relaxed);
            b = atomic_load_explicit(&high, memory_order_relaxed);
            atomic_thread_fence(memory_order_acquire);
            after = atomic_load_explicit(&sequence, memory_order_relaxed);
        } while (before != after || before % 2);
        if (a != -b) abort();
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, i ? reader : writer, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
