// What is read from descriptors and written to them, by offset, scattered or as messages.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// One block for each call, with cache lines of its own: they are findings of their own.
_Alignas(64) char row1[256];
_Alignas(64) char row2[256];
_Alignas(64) char row3[256];
_Alignas(64) char row4[256];
_Alignas(64) char row5[256];
_Alignas(64) char row6[256];
_Alignas(64) char row7[256];
_Alignas(64) char row8[256];
_Alignas(64) char row9[256];
_Alignas(64) char row10[256];
_Alignas(64) char row11[256];
_Alignas(64) char row12[256];
_Alignas(64) char row13[256];
_Alignas(64) char row14[256];
atomic_int step;
volatile long sink;

void fill(char *to) {
    for (int i = 0; i < 7; i++)
        to[i] = '8' - i;
}

void *writer(void *arg) {
    row1[0] = '1'; // expect: data-race write #1
    row2[0] = '1'; // expect: data-race write #2
    row3[0] = '1'; // expect: data-race write #3
    row4[0] = '1'; // expect: data-race write #4
    row5[0] = '1'; // expect: data-race write #5
    row6[0] = '1'; // expect: data-race write #6
    row7[0] = '1'; // expect: data-race write #7
    row8[0] = '1'; // expect: data-race write #8
    row9[0] = '1'; // expect: data-race write #9
    row10[0] = '1'; // expect: data-race write #10
    row11[0] = '1'; // expect: data-race write #11
    row12[0] = '1'; // expect: data-race write #12
    row13[0] = '1'; // expect: data-race write #13
    row14[0] = '1'; // expect: data-race write #14
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    fill(row1);
    fill(row2);
    fill(row3);
    fill(row4);
    fill(row5);
    fill(row6);
    fill(row7);
    fill(row8);
    fill(row9);
    fill(row10);
    fill(row11);
    fill(row12);
    fill(row13);
    fill(row14);
    int pair[2], ends[2], ep = epoll_create1(0);
    sink = socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    sink = pipe(ends);
    int file = open("/proc/self/exe", O_RDONLY), null = open("/dev/null", O_WRONLY);
    struct epoll_event event = {.events = EPOLLOUT};
    epoll_ctl(ep, EPOLL_CTL_ADD, pair[0], &event);
    struct iovec part = {0, 8};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    socklen_t length = 4;
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    sink = pread(file, row1, 8, 0); // expect: data-race write #1
    sink = pwrite(null, row2, 8, 0); // expect: data-race read #2
    part.iov_base = row3, sink = preadv(file, &part, 1, 0); // expect: data-race write #3
    part.iov_base = row4, sink = pwritev(null, &part, 1, 0); // expect: data-race read #4
    part.iov_base = row5, sink = writev(null, &part, 1); // expect: data-race read #5
    part.iov_base = row6, sink = sendmsg(pair[0], &message, 0); // expect: data-race read #6
    part.iov_base = row7, sink = recvmsg(pair[1], &message, 0); // expect: data-race write #7
    sink = send(pair[0], row8, 8, 0); // expect: data-race read #8
    sink = recv(pair[1], row9, 8, 0); // expect: data-race write #9
    sink = getsockopt(pair[0], SOL_SOCKET, SO_TYPE, row10, &length); // expect: data-race write #10
    sink = setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, row11, 4); // expect: data-race read #11
    sink = epoll_wait(ep, (struct epoll_event *)row12, 4, 0); // expect: data-race write #12
    sink = poll((struct pollfd *)row13, 1, 0); // expect: data-race read #13
    sink = pipe((int *)row14); // expect: data-race write #14
    pthread_join(thread, 0);
    return 0;
}
