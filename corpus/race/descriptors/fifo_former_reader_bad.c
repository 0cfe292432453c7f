// Who opens a FIFO for writing waits for the reader that comes, not for one that has left.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int shared;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *former(void *arg) {
    shared = 2;                                         // expect: data-race write #1
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    close(fd);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *reader(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int fd = open(name, O_RDONLY);
    close(fd);
    return arg;
}

static void *writer(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int fd = open(name, O_WRONLY);
    int seen = shared;                                  // expect: data-race read #1
    close(fd);
    return (char *)arg + seen;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_former_%d", getpid());
    unlink(name);
    shared = 0; // shared before: `fast` forgets what one thread alone has touched
    if (mkfifo(name, 0600) != 0) return 1;
    pthread_t a, b, c;
    pthread_create(&a, 0, former, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_create(&c, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    unlink(name);
    return 0;
}
