// expect: nothing
// An event loop over epoll with an eventfd to stop it and a socketpair for work, edge- and level-triggered.
#include <assert.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int loop, stop, ends[2], handled;

void *run_loop(void *arg) {
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1) continue;
        if (event.data.fd == stop) break;
        char job;
        while (recv(ends[1], &job, 1, MSG_DONTWAIT) == 1) handled++;
    }
    char job;
    while (recv(ends[1], &job, 1, MSG_DONTWAIT) == 1) handled++;
    return arg;
}

int main(void) {
    loop = epoll_create1(EPOLL_CLOEXEC);
    stop = eventfd(0, EFD_CLOEXEC);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct epoll_event on_stop = {.events = EPOLLIN, .data.fd = stop};
    struct epoll_event on_job = {.events = EPOLLIN | EPOLLET, .data.fd = ends[1]};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, stop, &on_stop) == 0);
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, ends[1], &on_job) == 0);
    pthread_t t;
    pthread_create(&t, 0, run_loop, 0);
    assert(send(ends[0], "ab", 2, 0) == 2);
    assert(eventfd_write(stop, 1) == 0);
    pthread_join(t, 0);
    assert(handled == 2);
    return 0;
}
