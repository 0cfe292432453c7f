// Who waits for room, in a pipe or a message queue, comes after the reader that makes it.
// expect: nothing
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/msg.h>
#include <unistd.h>

enum { BY_WRITE, BY_LARGE_WRITE, BY_TRYING, BY_POLL, BY_SELECT, BY_STREAM, BY_QUEUE, BY_MESSAGE, WAYS };
int shared[WAYS];
static int ends[2], id;
static mqd_t queue;
static char chunk[1 << 16], got[1 << 16];
static atomic_int waiter, done; // relaxed: fix the order of the run, synchronise nothing
static struct { long kind; char text[4096]; } message = {1, ""}, taken;

// Fills what it writes to, but for the one write that has to wait.
static void fill(int way) {
    if (way == BY_QUEUE) {
        mq_send(queue, chunk, 1, 0);
    } else if (way == BY_MESSAGE) {
        while (msgsnd(id, &message, sizeof message.text, IPC_NOWAIT) == 0) {}
    } else {
        int flags = fcntl(ends[1], F_GETFL);
        fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
        for (int n = 4096; n; n = n > 1 ? n / 64 : 0)
            while (write(ends[1], chunk, n) > 0) {}
        if (way != BY_TRYING) fcntl(ends[1], F_SETFL, flags);
    }
}

static void *writer(void *arg) {
    int way = *(int *)arg;
    atomic_store_explicit(&waiter, gettid(), memory_order_relaxed);
    if (way == BY_QUEUE) {
        mq_send(queue, chunk, 1, 0);
    } else if (way == BY_MESSAGE) {
        msgsnd(id, &message, sizeof message.text, 0);
    } else if (way == BY_TRYING) {
        while (write(ends[1], chunk, 1) < 0 && errno == EAGAIN) usleep(100);
    } else if (way == BY_POLL) {
        struct pollfd one = {ends[1], POLLOUT, 0};
        poll(&one, 1, -1);
    } else if (way == BY_SELECT) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(ends[1], &set);
        select(ends[1] + 1, 0, &set, 0, 0);
    } else if (way == BY_STREAM) {
        dprintf(ends[1], "%d", way);
    } else if (write(ends[1], chunk, way == BY_LARGE_WRITE ? sizeof chunk : 1) < 0) {
        return 0;
    }
    shared[way]++;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return arg;
}

// Until the writer sleeps: three looks in a row.
static void await_waiter(void) {
    char name[64], text[256];
    for (int seen = 0; seen < 3; usleep(1000)) {
        int thread = atomic_load_explicit(&waiter, memory_order_relaxed);
        snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread);
        int fd = thread ? open(name, O_RDONLY) : -1;
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        char *end = strrchr(text, ')');
        seen = end && end[2] == 'S' ? seen + 1 : 0;
        if (fd >= 0) close(fd);
    }
}

static void *reader(void *arg) {
    int way = *(int *)arg;
    shared[way] = 1;
    await_waiter();
    if (way == BY_QUEUE) mq_receive(queue, got, 8, 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        if (way == BY_MESSAGE) msgrcv(id, &taken, sizeof taken.text, 0, IPC_NOWAIT);
        else if (way != BY_QUEUE && read(ends[0], got, sizeof got) > 0) continue;
        usleep(100);
    }
    return arg;
}

int main(void) {
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/raddle_%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    id = msgget(IPC_PRIVATE, 0600);
    for (int way = 0; way < WAYS; way++) {
        if (way == BY_QUEUE && queue == (mqd_t)-1) continue;
        if (way == BY_MESSAGE && id < 0) continue;
        if (pipe(ends) != 0) return 1;
        if (way != BY_LARGE_WRITE) fill(way);
        else if (write(ends[1], chunk, 1) != 1) return 1;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        waiter = done = 0;
        pthread_t a, b;
        pthread_create(&a, 0, reader, &way);
        pthread_create(&b, 0, writer, &way);
        pthread_join(b, 0);
        pthread_join(a, 0);
        close(ends[0]);
        close(ends[1]);
    }
    msgctl(id, IPC_RMID, 0);
    return 0;
}
