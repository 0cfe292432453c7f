// expect: assertion
//@ bound: 1
// A signal is taken to come within the second that sigtimedwait gives it.
// Fails when: the wait gives up before the other thread has sent it.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

pthread_t main_thread;

void *sends(void *arg) {
    pthread_kill(main_thread, SIGUSR1);
    return arg;
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    main_thread = pthread_self();
    pthread_t t;
    pthread_create(&t, 0, sends, 0);
    struct timespec second = {.tv_sec = 1};
    int got = sigtimedwait(&set, 0, &second);
    pthread_join(t, 0);
    assert(got == SIGUSR1);                             // expect: assertion here
    return 0;
}
