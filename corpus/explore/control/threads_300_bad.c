// expect: assertion
//@ bound: 0
// Three hundred threads, of which the last one must not come first.
// Fails when: the thread with number 299 is the first to run.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 300 };
atomic_int started;

void *worker(void *arg) {
    int before = atomic_fetch_add(&started, 1);
    assert(!((intptr_t)arg == THREADS - 1 && before == 0)); // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return 0;
}
