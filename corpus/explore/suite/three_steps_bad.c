// expect: assertion
//@ bound: 4
// A watcher that has to see three states one after the other: a bug that needs four preemptions.
// Fails when: the watcher's three reads fall into the three different states of the worker.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int state;

void *worker(void *arg) {
    atomic_store(&state, 1);
    atomic_store(&state, 2);
    atomic_store(&state, 3);
    return arg;
}

void *watcher(void *arg) {
    int first = atomic_load(&state);
    int second = atomic_load(&state);
    int third = atomic_load(&state);
    assert(!(first == 1 && second == 2 && third == 3)); // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, watcher, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
