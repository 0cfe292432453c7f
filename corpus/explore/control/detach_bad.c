// expect: assertion
//@ bound: 1
// A detached thread is expected to be through when main gets there: nothing says so.
// Fails when: the thread is preempted before its store for longer than main sleeps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int ran;

void *worker(void *arg) {
    atomic_store(&ran, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_detach(t);
    usleep(20000); // long enough, usually
    assert(atomic_load(&ran));                          // expect: assertion here
    return 0;
}
