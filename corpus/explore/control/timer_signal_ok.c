// expect: nothing
// timer_create with SIGEV_SIGNAL: the handler gets the timer's value; a timer without notification is only asked.
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

volatile sig_atomic_t rung;

static void ring(int number, siginfo_t *info, void *context) {
    (void)context;
    assert(number == SIGUSR1 && info->si_code == SI_TIMER && info->si_value.sival_int == 42);
    rung++;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = ring, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    timer_t loud, silent;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    assert(timer_create(CLOCK_REALTIME, &event, &loud) == 0);
    assert(timer_create(CLOCK_MONOTONIC, &none, &silent) == 0);
    struct itimerspec left, hour = {.it_value.tv_sec = 3600};
    assert(timer_settime(silent, 0, &hour, 0) == 0);
    assert(timer_gettime(silent, &left) == 0 && left.it_value.tv_sec >= 3500);

    struct itimerspec at = {0}, old;
    clock_gettime(CLOCK_REALTIME, &at.it_value);
    at.it_value.tv_sec += 2;
    assert(timer_settime(loud, TIMER_ABSTIME, &at, 0) == 0);
    assert(timer_settime(loud, TIMER_ABSTIME, &at, &old) == 0); // armed again: it may have rung already
    struct timespec span = {.tv_sec = 1};
    while (!rung) nanosleep(&span, 0);
    assert(timer_getoverrun(loud) == 0);
    assert(timer_gettime(silent, &left) == 0 && left.it_value.tv_sec > 0);
    assert(timer_delete(loud) == 0 && timer_delete(silent) == 0);
    assert(timer_delete(loud) == -1 && errno == EINVAL);
    return 0;
}
