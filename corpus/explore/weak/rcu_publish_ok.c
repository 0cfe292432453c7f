// expect(sc c11): nothing
// A new version is published with a release store and read with consume: the content comes with the pointer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct config {
    atomic_int rows, columns;
};
struct config versions[2] = {{2, 2}, {0, 0}};
struct config *_Atomic current = &versions[0];

void *updater(void *arg) {
    struct config *next = &versions[1];
    atomic_store_explicit(&next->rows, 3, memory_order_relaxed);
    atomic_store_explicit(&next->columns, 3, memory_order_relaxed);
    atomic_store_explicit(&current, next, memory_order_release);
    return arg;
}

void *reader(void *arg) {
    struct config *c = atomic_load_explicit(&current, memory_order_consume);
    int rows = atomic_load_explicit(&c->rows, memory_order_relaxed);
    int columns = atomic_load_explicit(&c->columns, memory_order_relaxed);
    assert(rows == columns && rows != 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, updater, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
