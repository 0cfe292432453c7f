// Table 3, Timer Race: a periodic timer ticks for as long as the program runs.
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int ticks;

static void tick(union sigval v) {
    ticks++; // expect: data-race write #1, data-race read #1
}

int main(void) {
    struct sigevent event = { 0 };
    struct itimerspec when = { { 1, 0 }, { 1, 0 } };
    timer_t timer;
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = tick;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &when, NULL);
    for (;;) {
        sleep(1);
        ticks = 0; // expect: data-race write #1
    }
}
