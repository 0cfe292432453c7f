// expect: nothing
// Signal masks are inherited at creation and then each thread's own; a blocked signal stays pending for its thread.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static int blocked(int number) {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, 0, &now);
    return sigismember(&now, number);
}

static void block(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, 0);
}

void *worker(void *arg) {
    assert(blocked(SIGUSR1) && !blocked(SIGUSR2));
    block(SIG_BLOCK, SIGUSR2);
    sched_yield();
    assert(blocked(SIGUSR2));
    pthread_kill(pthread_self(), SIGUSR2);
    sigset_t pending;
    sigpending(&pending);
    assert(sigismember(&pending, SIGUSR2));
    return arg;
}

int main(void) {
    block(SIG_BLOCK, SIGUSR1);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    block(SIG_UNBLOCK, SIGUSR1);
    sched_yield();
    assert(!blocked(SIGUSR1) && !blocked(SIGUSR2));
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
