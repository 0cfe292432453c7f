// To open a FIFO for reading and writing waits for nobody.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int shared;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    shared = 2;                                         // expect: data-race write #1
    int fd = open(name, O_RDWR);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    close(fd);
    return arg;
}

static void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int fd = open(name, O_RDWR);
    int seen = shared;                                  // expect: data-race read #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    close(fd);
    return (char *)arg + seen;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_open_%d", getpid());
    shared = 0; // shared before: `fast` forgets what one thread alone has touched
    if (mkfifo(name, 0600) != 0) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
