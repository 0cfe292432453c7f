// expect(sc c11): nothing
// Store buffering with seq_cst throughout: one of them sees the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int saw_y, saw_x;

void *one(void *arg) {
    atomic_store(&x, 1);
    saw_y = atomic_load(&y);
    return arg;
}

void *two(void *arg) {
    atomic_store(&y, 1);
    saw_x = atomic_load(&x);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(saw_x || saw_y);
    return 0;
}
