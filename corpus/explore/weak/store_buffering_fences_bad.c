// expect(sc): nothing
// expect(c11): assertion
// Store buffering with acq_rel fences, which order nothing here.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int saw_y, saw_x;

void *one(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acq_rel);
    saw_y = atomic_load_explicit(&y, memory_order_relaxed);
    return arg;
}

void *two(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acq_rel);
    saw_x = atomic_load_explicit(&x, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(saw_x || saw_y);                             // expect: assertion here
    return 0;
}
