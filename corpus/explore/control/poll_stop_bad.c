// expect: assertion
//@ bound: 1
// An event loop that stops at once when it is told to, and leaves work behind.
// Fails when: the loop is preempted before it looks for as long as main sleeps: it finds work and stop together.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int stop, work, handled;

void *run_loop(void *arg) {
    for (;;) {
        struct pollfd both[2] = {{.fd = stop, .events = POLLIN}, {.fd = work, .events = POLLIN}};
        if (poll(both, 2, -1) < 1) continue;
        if (both[0].revents) break;
        eventfd_t n;
        if (both[1].revents && eventfd_read(work, &n) == 0) handled += n;
    }
    return arg;
}

int main(void) {
    stop = eventfd(0, EFD_CLOEXEC);
    work = eventfd(0, EFD_CLOEXEC);
    pthread_t t;
    pthread_create(&t, 0, run_loop, 0);
    assert(eventfd_write(work, 2) == 0);
    usleep(10000); // it has handled that by now, usually
    assert(eventfd_write(stop, 1) == 0);
    pthread_join(t, 0);
    assert(handled == 2);                               // expect: assertion here
    return 0;
}
