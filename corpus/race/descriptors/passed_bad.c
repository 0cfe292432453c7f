// A descriptor that a message carries orders nothing by itself: two threads that only write to it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int way[2], data;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *work(void *arg) {
    uint64_t n = 1;
    char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int count = eventfd(0, 0);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof count);
    memcpy(CMSG_DATA(c), &count, sizeof count);
    if (sendmsg(way[0], &m, 0) != 1) abort();
    while (atomic_load_explicit(&step, memory_order_relaxed) < 1) usleep(100);
    data++;                                             // expect: data-race #1
    if (write(count, &n, sizeof n) != sizeof n) abort();
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    data = 0;
    return arg;
}

int main(void) {
    uint64_t n = 1;
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    pthread_t t;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    data = 0;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, way)) return 1;
    pthread_create(&t, 0, work, 0);
    if (recvmsg(way[1], &m, 0) != 1) abort();
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    if (write(fd, &n, sizeof n) != sizeof n) abort();
    data++;                                             // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
