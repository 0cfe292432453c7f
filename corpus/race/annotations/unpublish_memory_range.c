// Section 5, UNPUBLISH_MEMORY_RANGE: an object is taken out of a table under the lock; from then on only this thread
// uses it. An arc from all earlier accesses to the range to this call: silent in every mode.
// expect: nothing
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
    object.uses++;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    table = 0;
    pthread_mutex_unlock(&mu);
    ANNOTATE_UNPUBLISH_MEMORY_RANGE(&object, sizeof object);
    object.uses = -1;
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
