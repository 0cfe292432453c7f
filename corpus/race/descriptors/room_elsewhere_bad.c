// What makes no room orders nobody: reading from one's own end of a socket, closing an end that
// writes, receiving from a queue that was never full.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int answers, closed, received;
static int connection[2], ends[2], other;
static mqd_t queue;
static char chunk[1 << 20];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void await(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

// Reads all that comes, late.
static void *drain(void *arg) {
    static __thread char got[1 << 16];
    usleep(50000);
    while (read(*(int *)arg, got, sizeof got) > 0) {}
    return arg;
}

static void *answered(void *arg) {
    char got;
    answers = 1;                                        // expect: data-race write #1
    if (read(connection[0], &got, 1) != 1) return 0;
    reached(1);
    return arg;
}

static void *closes(void *arg) {
    closed = 1;                                         // expect: data-race write #2
    close(other);
    reached(2);
    return arg;
}

static void *receives(void *arg) {
    char got[8];
    for (int i = 0; i < 12; i++) mq_receive(queue, got, sizeof got, 0);
    received = 1;                                       // expect: data-race write #3
    reached(3);
    mq_receive(queue, got, sizeof got, 0);
    return arg;
}

int main(void) {
    char name[64];
    answers = closed = received = 0;
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/raddle_elsewhere_%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, connection) != 0 || pipe(ends) != 0) return 1;
    other = dup(ends[1]);
    if (write(connection[1], "a", 1) != 1) return 1;
    // Another process empties the pipe, so no thread is ordered by that.
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        close(other);
        drain(&ends[0]);
        _exit(0);
    }

    pthread_t peer, one, two, three;
    pthread_create(&one, 0, answered, 0);
    await(1);
    pthread_create(&peer, 0, drain, &connection[1]);
    int sum = write(connection[0], chunk, sizeof chunk) > 0;
    sum += answers;                                     // expect: data-race read #1

    pthread_create(&two, 0, closes, 0);
    await(2);
    sum += write(ends[1], chunk, sizeof chunk) > 0;
    sum += closed;                                      // expect: data-race read #2

    pthread_create(&three, 0, receives, 0);
    for (int i = 0; i < 12; i++) {
        mq_send(queue, "m", 1, 0);
        usleep(500);
    }
    await(3);
    usleep(20000);
    mq_send(queue, "m", 1, 0);
    sum += received;                                    // expect: data-race read #3

    shutdown(connection[0], SHUT_RDWR);
    close(ends[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    pthread_join(peer, 0);
    waitpid(child, 0, 0);
    return sum < 0;
}
