// expect: nothing
// A home-made spin lock for three threads that yields while it waits.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3 };
atomic_flag taken = ATOMIC_FLAG_INIT;
int counter;

void *worker(void *arg) {
    while (atomic_flag_test_and_set(&taken)) sched_yield();
    counter++;
    atomic_flag_clear(&taken);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(counter == THREADS);
    return 0;
}
