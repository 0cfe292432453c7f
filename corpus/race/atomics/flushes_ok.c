// A lock made of atomics, taken so often that the detector's epochs are used up and its state is flushed in the middle. A flush may
// hide a race, never invent one. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 200000 };
static atomic_int word;
static long shared[64];

static void lock(void) {
    while (atomic_exchange_explicit(&word, 1, memory_order_acq_rel)) sched_yield();
}

static void *work(void *arg) {
    atomic_int mine = 0;
    for (long i = 0; i < ROUNDS; i++) {
        lock();
        atomic_fetch_add_explicit(&mine, 1, memory_order_acq_rel); // another epoch
        shared[i & 63]++;
        atomic_exchange_explicit(&word, 0, memory_order_acq_rel);
    }
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return 0;
}
