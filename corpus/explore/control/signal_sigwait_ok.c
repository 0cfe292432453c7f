// expect: nothing
// pthread_kill to a thread that takes the signal by sigwait; the mask is each thread's own.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

sigset_t set;

void *waiter(void *arg) {
    int got;
    assert(sigwait(&set, &got) == 0 && got == SIGUSR1);
    return arg;
}

int main(void) {
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    assert(pthread_kill(t, SIGUSR1) == 0);
    pthread_join(t, 0);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, 0, &mine);
    assert(sigismember(&mine, SIGUSR1) == 1);
    return 0;
}
