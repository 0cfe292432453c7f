// expect: nothing
// setitimer, periodic: a thread takes SIGALRM by sigwait three times and cancels it.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

sigset_t alarm_set;

void *ticker(void *arg) {
    for (int i = 0; i < 3; i++) {
        int got;
        assert(sigwait(&alarm_set, &got) == 0 && got == SIGALRM);
    }
    struct itimerval none = {0}, left;
    assert(setitimer(ITIMER_REAL, &none, 0) == 0);
    assert(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_usec == 0);
    return arg;
}

int main(void) {
    sigemptyset(&alarm_set);
    sigaddset(&alarm_set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_set, 0);
    pthread_t t;
    pthread_create(&t, 0, ticker, 0);
    struct itimerval often = {.it_value.tv_usec = 2000, .it_interval.tv_usec = 2000};
    assert(setitimer(ITIMER_REAL, &often, 0) == 0);
    pthread_join(t, 0);
    return 0;
}
