// How long a file is tells nothing of what another thread did after it had written to it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int shared;
static int fd;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *grows(void *arg) {
    if (write(fd, "x", 1) != 1) abort();
    shared = 2;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *looks(void *arg) {
    struct stat file;
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (fstat(fd, &file) != 0 || file.st_size != 1) abort();
    return (char *)arg + shared;                        // expect: data-race read #1
}

int main(void) {
    char name[] = "/tmp/raddle_size_XXXXXX";
    fd = mkstemp(name);
    unlink(name);
    shared = 1;
    pthread_t a, b;
    pthread_create(&a, 0, grows, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
