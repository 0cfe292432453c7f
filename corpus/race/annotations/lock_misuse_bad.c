// Locks that annotations describe, misused: taken while another thread holds it, for reading while it is held for
// writing, let go of by a thread that does not hold it, destroyed while held.
#include <pthread.h>
#include "raddle/annotations.h"

int others, written, free_one, taken, held;

void *work(void *arg) {
    ANNOTATE_RWLOCK_ACQUIRED(&others, 1);               // expect: double-lock #1
    ANNOTATE_RWLOCK_RELEASED(&taken, 1);                // expect: unlock-not-held #2
    return arg;
}

__attribute__((noinline)) void read_written(void) {
    ANNOTATE_RWLOCK_ACQUIRED(&written, 0);              // expect: double-lock #3
}

int main(void) {
    pthread_t t;
    ANNOTATE_RWLOCK_ACQUIRED(&others, 1);
    ANNOTATE_RWLOCK_ACQUIRED(&taken, 1);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    ANNOTATE_RWLOCK_ACQUIRED(&written, 1);
    read_written();
    ANNOTATE_RWLOCK_RELEASED(&free_one, 1);             // expect: unlock-not-held #4
    ANNOTATE_RWLOCK_CREATE(&held);
    ANNOTATE_RWLOCK_ACQUIRED(&held, 1);
    ANNOTATE_RWLOCK_DESTROY(&held);                     // expect: lock-leak #5
    return 0;
}
