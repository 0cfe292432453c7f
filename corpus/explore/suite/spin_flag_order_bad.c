// expect: assertion
//@ bound: 1
// Order violation: the flag is raised before the data it stands for; the reader spins, and yields while it does.
// Fails when: the writer is preempted between flag and data; the reader leaves its loop and reads 0.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready, data;

void *writer(void *arg) {
    atomic_store(&ready, 1);
    atomic_store(&data, 42);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load(&ready)) sched_yield();
    assert(atomic_load(&data) == 42);                   // expect: assertion here
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
