// expect: nothing
// An event loop: epoll tells of a timerfd and of an eventfd that another thread writes to; the loop ends by the second.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

int stop, timer;

void *stops(void *arg) {
    assert(eventfd_write(stop, 1) == 0);
    return arg;
}

int main(void) {
    int loop = epoll_create1(0), ticks = 0, going = 1;
    stop = eventfd(0, 0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec often = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    assert(timerfd_settime(timer, 0, &often, 0) == 0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = stop};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, stop, &event) == 0);
    event.data.fd = timer;
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, timer, &event) == 0);
    pthread_t t;
    pthread_create(&t, 0, stops, 0);
    while (going) {
        struct epoll_event got;
        if (epoll_wait(loop, &got, 1, -1) != 1) continue;
        uint64_t count;
        assert(read(got.data.fd, &count, sizeof count) == sizeof count && count >= 1);
        if (got.data.fd == stop) going = 0;
        else ticks++;
    }
    assert(ticks >= 0);
    pthread_join(t, 0);
    return 0;
}
