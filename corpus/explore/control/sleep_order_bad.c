// expect: assertion
//@ bound: 1
// A sleep in place of synchronisation: "by then it has run".
// Fails when: the writer is preempted before its store for longer than the reader sleeps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int data;

void *writer(void *arg) {
    atomic_store(&data, 42);
    return arg;
}

void *reader(void *arg) {
    usleep(20000);
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
