// expect: assertion
//@ bound: 1
// A timer is cancelled and its resource closed at once, although the callback may be under way already.
// Fails when: the callback has begun and is preempted; main deletes the timer and closes; the callback goes on with what is closed.
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

atomic_int running, closed;

static void ring(union sigval value) {
    (void)value;
    atomic_store(&running, 1);
    assert(!atomic_load(&closed));                      // expect: assertion here
}

int main(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec when = {.it_value.tv_nsec = 5000000};
    timer_settime(timer, 0, &when, 0);
    usleep(20000);
    timer_delete(timer);
    atomic_store(&closed, 1);
    usleep(5000);
    return 0;
}
