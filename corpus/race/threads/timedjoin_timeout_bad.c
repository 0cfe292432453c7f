// A join that timed out orders nothing: main reads the result all the same. Every mode reports.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

int result;
atomic_int step, end; // relaxed: fix the order of the run, synchronise nothing

void *work(void *arg) {
    result = 42;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&end, memory_order_relaxed)) usleep(100);
    return arg;
}

int main(void) {
    result = 0;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    struct timespec past = {1, 0};
    int status = pthread_timedjoin_np(t, 0, &past);
    int early = result;                                 // expect: data-race read #1
    atomic_store_explicit(&end, 1, memory_order_relaxed);
    pthread_join(t, 0);
    return status == 0 || early != 42;
}
