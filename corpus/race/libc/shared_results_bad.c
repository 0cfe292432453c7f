// Results that the C library keeps in memory of its own, and the environment: two threads at once.
// `state_ok.c` is the twin.
// expect(fast): nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static volatile int year, home;

static void *first(void *arg) {
    time_t now = 86400;
    year = localtime(&now)->tm_year; // expect(hb hybrid): data-race #1
    setenv("RADDLE_SHARED", "1", 1); // expect(hb hybrid): data-race #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    time_t now = 0;
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    localtime(&now); // expect(hb hybrid): data-race #1
    home = getenv("HOME") != 0; // expect(hb hybrid): data-race #2
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    return 0;
}
