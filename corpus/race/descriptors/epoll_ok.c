// epoll: what was done before epoll_ctl and before the write that makes a descriptor ready happens before the return of
// epoll_wait that says so. The handler is reached through epoll_event.data and never read from the descriptor first.
// expect: nothing
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { N = 50 };
struct handler { int fd; long registered, data; } handlers[N];
int poller;

void *loop(void *arg) {
    for (int seen = 0; seen < N;) {
        struct epoll_event events[8];
        int n = epoll_wait(poller, events, 8, -1);
        for (int i = 0; i < n; i++, seen++) {
            struct handler *h = events[i].data.ptr;
            if (h->registered != 1 || h->data != 42) abort();
            h->data = 43;
            uint64_t count;
            if (read(h->fd, &count, 8) != 8) abort();
        }
    }
    return arg;
}

int main(void) {
    poller = epoll_create1(0);
    pthread_t t;
    pthread_create(&t, 0, loop, 0);
    for (int i = 0; i < N; i++) {
        struct handler *h = &handlers[i];
        h->fd = eventfd(0, 0);
        h->registered = 1;
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = h};
        epoll_ctl(poller, EPOLL_CTL_ADD, h->fd, &e);
        h->data = 42;
        uint64_t one = 1;
        if (write(h->fd, &one, 8) != 8) return 1;
    }
    pthread_join(t, 0);
    return handlers[N - 1].data != 43;
}
