// expect: deadlock
//@ bound: 1
// A loop over epoll is woken only if it is known to wait, and says so too late.
// Fails when: the loop is preempted after it has found nothing to do.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

int loop, wake;
atomic_int is_done, waits;

void *run_loop(void *arg) {
    if (!is_done) {
        struct epoll_event event;
        waits = 1;
        epoll_wait(loop, &event, 1, -1);                // expect: deadlock here
    }
    return arg;
}

int main(void) {
    loop = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_CLOEXEC);
    struct epoll_event on_wake = {.events = EPOLLIN, .data.fd = wake};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, wake, &on_wake) == 0);
    pthread_t t;
    pthread_create(&t, 0, run_loop, 0);
    is_done = 1;
    if (waits) eventfd_write(wake, 1);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
