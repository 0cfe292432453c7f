// Two threads append to a file where it ends. That one is told of an end which the other has moved
// orders nothing: it does not wait for that.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int shared;
static int fd;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void append(void) {
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0 || pwrite(fd, "x", 1, end) != 1) abort();
}

static void *first(void *arg) {
    until(1);
    shared = 2;                                         // expect: data-race write #1
    append();
    reached(2);
    return arg;
}

static void *second(void *arg) {
    reached(1);
    until(2);
    append();
    return (char *)arg + shared;                        // expect: data-race read #1
}

int main(void) {
    shared = 0; // shared before: `fast` forgets what one thread alone has touched
    char name[] = "/tmp/raddle_end_XXXXXX";
    fd = mkstemp(name);
    unlink(name);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
