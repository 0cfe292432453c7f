// Locks that annotations describe, used as they may be: taken again by their holder, read by two threads, and one that
// the linker has initialised, which is never destroyed.
// expect: nothing
#include <pthread.h>
#include "raddle/annotations.h"

int again, readers, fixed;
pthread_barrier_t barrier;

void *read_it(void *arg) {
    ANNOTATE_RWLOCK_ACQUIRED(&readers, 0);
    pthread_barrier_wait(&barrier);
    ANNOTATE_RWLOCK_RELEASED(&readers, 0);
    return arg;
}

int main(void) {
    ANNOTATE_RWLOCK_ACQUIRED(&again, 1);
    ANNOTATE_RWLOCK_ACQUIRED(&again, 1);
    ANNOTATE_RWLOCK_RELEASED(&again, 1);
    ANNOTATE_RWLOCK_RELEASED(&again, 1);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t a, b;
    pthread_create(&a, 0, read_it, 0);
    pthread_create(&b, 0, read_it, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    ANNOTATE_RWLOCK_CREATE_STATIC(&fixed);
    ANNOTATE_RWLOCK_ACQUIRED(&fixed, 1);
    ANNOTATE_RWLOCK_DESTROY(&fixed);
    ANNOTATE_RWLOCK_RELEASED(&fixed, 1);
    return 0;
}
