// The result is read before pthread_join instead of after. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int result;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *work(void *arg) {
    result = 42;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    result = 0;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int early = result;                                 // expect: data-race read #1
    pthread_join(t, 0);
    return early != 42;
}
