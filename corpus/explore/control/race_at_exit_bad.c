// expect: data-race
//@ monitors: race
// A detached thread writes after it has registered a handler that reads the same. Fails when: the
// thread writes as main ends. `race_at_exit_ok.c` is the twin.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int late;
atomic_int registered; // relaxed: synchronises nothing

void at_exit(void) { late++; }

void *work(void *arg) {
    atexit(at_exit);
    late = 1;
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    while (!atomic_load_explicit(&registered, memory_order_relaxed)) {}
    return 0;
}
