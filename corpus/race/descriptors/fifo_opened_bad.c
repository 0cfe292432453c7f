// What a thread does after it has opened its end of a FIFO is not ordered by that.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int shared;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *writer(void *arg) {
    int fd = open(name, O_WRONLY);
    shared = 2;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    close(fd);
    return arg;
}

static void *reader(void *arg) {
    int fd = open(name, O_RDONLY);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int seen = shared;                                  // expect: data-race read #1
    close(fd);
    return (char *)arg + seen;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_fifo_%d", getpid());
    if (mkfifo(name, 0600) != 0) return 1;
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
