// expect: nothing
// A timer that rings in ten days is cancelled, and the thread that waits is told otherwise.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int timer, ends[2];

static void *waiter(void *arg) {
    struct pollfd two[2] = {{timer, POLLIN, 0}, {ends[0], POLLIN, 0}};
    assert(poll(two, 2, -1) == 1);
    assert(two[1].revents & POLLIN);
    return arg;
}

int main(void) {
    struct itimerspec far = {.it_value.tv_sec = 10 * 86400};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    assert(timer >= 0 && pipe(ends) == 0 && timerfd_settime(timer, 0, &far, 0) == 0);
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    assert(write(ends[1], "x", 1) == 1);
    pthread_join(t, 0);
    return 0;
}
