// expect: nothing
// setitimer, once, with a handler that raises a flag; and one that is cancelled and never rings.
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

volatile sig_atomic_t rung;

static void ring(int number) {
    (void)number;
    rung++;
}

int main(void) {
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGALRM, &action, 0);
    struct itimerval later = {.it_value.tv_sec = 100}, soon = {.it_value.tv_usec = 5000}, none = {0};
    assert(setitimer(ITIMER_REAL, &later, 0) == 0);
    assert(setitimer(ITIMER_REAL, &none, 0) == 0);
    assert(rung == 0);
    assert(setitimer(ITIMER_REAL, &soon, 0) == 0);
    struct timespec span = {.tv_nsec = 1000000};
    while (!rung) nanosleep(&span, 0);
    assert(rung == 1);
    return 0;
}
