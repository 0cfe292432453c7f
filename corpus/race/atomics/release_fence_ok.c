// A release fence with a relaxed store, read by an acquire load. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROUNDS = 500 };
struct { _Alignas(64) atomic_long flag; long data; } lane[2]; // there and back

static void publish(int l, long value) {
    lane[l].data = value;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&lane[l].flag, value, memory_order_relaxed);
}

static void receive(int l, long value) {
    while (atomic_load_explicit(&lane[l].flag, memory_order_acquire) != value) sched_yield();
    if (lane[l].data != value) abort();
    lane[l].data = -1; // and a write: it must be ordered before the next publish, through the other lane
}

void *far(void *arg) {
    for (long i = 1; i <= ROUNDS; i++) {
        receive(0, i);
        publish(1, i);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, far, 0);
    for (long i = 1; i <= ROUNDS; i++) {
        publish(0, i);
        receive(1, i);
    }
    pthread_join(t, 0);
    return 0;
}
