// As unpublish_memory_range, without the annotation: hybrid and fast report, falsely; hb is silent.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

struct { long uses; } object;
void *table;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    object.uses++;                                      // expect(hybrid fast): data-race write #1 | read #1
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    table = 0;
    pthread_mutex_unlock(&mu);
    object.uses = -1;                                   // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    table = &object;
    object.uses = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
