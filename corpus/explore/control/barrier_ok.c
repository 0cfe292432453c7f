// expect: nothing
// Three threads, two rounds of one barrier; in each round exactly one of them is the serial one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 2 };
pthread_barrier_t barrier;
atomic_int arrived, serial;

void *worker(void *arg) {
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_fetch_add(&arrived, 1);
        int status = pthread_barrier_wait(&barrier);
        assert(status == 0 || status == PTHREAD_BARRIER_SERIAL_THREAD);
        if (status) atomic_fetch_add(&serial, 1);
        assert(atomic_load(&arrived) >= round * THREADS);
    }
    return arg;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, THREADS);
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(serial == ROUNDS);
    assert(pthread_barrier_destroy(&barrier) == 0);
    return 0;
}
