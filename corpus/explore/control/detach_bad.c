// expect: assertion
//@ bound: 0
//@ options: --sleep-is-not-yield
// A detached thread is expected to be through when main gets there: nothing says so.
// Fails when: main looks before the thread has run; a sleep is a yield and would let it run first, but for the option.
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
