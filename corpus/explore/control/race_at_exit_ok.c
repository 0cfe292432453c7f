// expect: nothing
//@ monitors: race
// What a detached thread did before it registered a handler comes before the handler, which main
// runs: by `atexit`, by `on_exit`, and as a destructor of a global registers. `race_at_exit_bad.c`
// is the twin.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int by_atexit, by_on_exit, by_cxa;
atomic_int registered; // relaxed: synchronises nothing
extern int __cxa_atexit(void (*)(void *), void *, void *);

void at_exit(void) { by_atexit++; }
void on_exit_with(int status, void *arg) { *(int *)arg += 1 + status; }
void destructor(void *arg) { *(int *)arg += 1; }

void *work(void *arg) {
    by_atexit = by_on_exit = by_cxa = 1;
    atexit(at_exit);
    on_exit(on_exit_with, &by_on_exit);
    __cxa_atexit(destructor, &by_cxa, 0);
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
