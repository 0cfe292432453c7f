// expect(sc): nothing
// expect(c11): assertion
// A sequence lock whose writer makes the count odd with a relaxed store and no fence behind it: a reader may see new data with the
// old count on both sides.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint sequence;
atomic_int first, second;

void *writer(void *arg) {
    unsigned n = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, n + 1, memory_order_relaxed);
    atomic_store_explicit(&first, 1, memory_order_relaxed);
    atomic_store_explicit(&second, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, n + 2, memory_order_release);
    return arg;
}

void *reader(void *arg) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int x = atomic_load_explicit(&first, memory_order_relaxed);
    int y = atomic_load_explicit(&second, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0) assert(x == y); // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
