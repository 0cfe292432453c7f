// An exit handler writes what a thread that is still running has written. Exit does not wait for threads and orders nothing.
// Every mode reports, though it happens after main has returned.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

long log_lines;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void flush(void) {
    log_lines = 0;                                      // expect: data-race write #1
}

void *logger(void *arg) {
    log_lines = 1;                                      // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    for (;;) pause();
    return arg;
}

int main(void) {
    log_lines = 0;
    atexit(flush);
    pthread_t t;
    pthread_create(&t, 0, logger, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return 0;
}
