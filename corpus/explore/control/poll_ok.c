// expect: nothing
// poll and ppoll on a pipe and an eventfd: readiness, hang-up and timeout.
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int ends[2], event;

void *sender(void *arg) {
    assert(eventfd_write(event, 1) == 0);
    assert(write(ends[1], "x", 1) == 1);
    close(ends[1]);
    return arg;
}

int main(void) {
    assert(pipe(ends) == 0);
    event = eventfd(0, EFD_CLOEXEC);
    struct pollfd idle = {.fd = ends[0], .events = POLLIN};
    assert(poll(&idle, 1, 5) == 0);
    pthread_t t;
    pthread_create(&t, 0, sender, 0);
    int bytes = 0, events = 0, closed = 0;
    while (!closed) {
        struct pollfd both[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = event, .events = POLLIN}};
        assert((events ? ppoll(both, 1, 0, 0) : poll(both, 2, -1)) > 0);
        eventfd_t value;
        if (both[1].revents & POLLIN) events += eventfd_read(event, &value) == 0;
        char byte;
        if (both[0].revents & (POLLIN | POLLHUP)) {
            int n = read(ends[0], &byte, 1);
            if (n == 1) bytes++;
            else closed = 1;
        }
    }
    assert(bytes == 1 && events == 1);
    pthread_join(t, 0);
    return 0;
}
