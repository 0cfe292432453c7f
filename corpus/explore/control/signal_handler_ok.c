// expect: nothing
// pthread_kill runs the handler in the thread it names, and nowhere else.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

_Thread_local volatile sig_atomic_t handled;
atomic_int handlers;

static void handler(int number) {
    assert(number == SIGUSR1);
    handled = 1;
    atomic_fetch_add(&handlers, 1);
}

void *target(void *arg) {
    while (!handled) sched_yield();
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    pthread_t a, b;
    pthread_create(&a, 0, target, 0);
    pthread_create(&b, 0, target, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    pthread_kill(b, SIGUSR1);
    pthread_join(b, 0);
    assert(!handled && atomic_load(&handlers) == 2);
    return 0;
}
