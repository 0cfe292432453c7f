// Section 5, PUBLISH_MEMORY_RANGE: an object is handed over under a lock. The annotation makes an arc from this call to
// every later access to the range, so hybrid and fast are silent too. (hb has the lock.)
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

struct { long head; char body[200]; } object;
int ready;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    object.head = 1;
    object.body[150] = 1;
    ANNOTATE_PUBLISH_MEMORY_RANGE(&object, sizeof object);
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
    if (r) object.head = object.body[150];
    return arg;
}

int main(void) {
    object.head = object.body[150] = ready = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
