// Descriptors that a message carries: an eventfd and the end of a pair of sockets, each used by both of its numbers.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int way[2], data;

static void pass(int fd) {
    char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (sendmsg(way[0], &m, 0) != 1) abort();
}

static int get(void) {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    if (recvmsg(way[1], &m, 0) != 1) abort();
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void *work(void *arg) {
    uint64_t n;
    char c;
    int count = eventfd(0, 0), ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    pass(count);
    if (read(count, &n, sizeof n) != sizeof n) abort();
    data++;
    pass(ends[0]);
    if (read(ends[1], &c, 1) != 1) abort();
    data++;
    if (write(ends[1], &c, 1) != 1) abort();
    return arg;
}

int main(void) {
    uint64_t n = 1;
    char c = 'x';
    pthread_t t;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, way)) return 1;
    pthread_create(&t, 0, work, 0);
    int count = get();
    data++;
    if (write(count, &n, sizeof n) != sizeof n) abort();
    int end = get();
    data++;
    if (write(end, &c, 1) != 1 || read(end, &c, 1) != 1) abort();
    data++;
    pthread_join(t, 0);
    return data != 5;
}
