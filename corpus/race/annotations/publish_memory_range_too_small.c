// Section 5, PUBLISH_MEMORY_RANGE covers no more than its range: the last member was left out. hybrid and fast report it;
// hb has the lock and is silent.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

struct { long head; long tail; } object;
int ready;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    object.head = 1;
    object.tail = 1;                                    // expect(hybrid fast): data-race write #1
    ANNOTATE_PUBLISH_MEMORY_RANGE(&object.head, sizeof object.head);
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    int r = ready;
    pthread_mutex_unlock(&mu);
    if (r) object.head = 2;
    if (r) object.tail = 2;                             // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    object.head = object.tail = ready = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
