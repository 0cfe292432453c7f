// expect: assertion
// What a thread is about to store is only an argument of the atomic operation.
// Fails when: the copier loads between the second store and the third.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

void *copier(void *arg) {
    atomic_store(&y, atomic_load(&x));
    return 0;
}

void *writer(void *arg) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    atomic_store(&x, 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, copier, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&y) != 2);
    return 0;
}
