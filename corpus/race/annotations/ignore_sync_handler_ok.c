// A signal that interrupts a thread between IGNORE_SYNC_BEGIN and _END: the handler is not what the annotation speaks of,
// and its hand-over counts.
// expect: nothing
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int data;
atomic_int started, ready, done;

static void handler(int signal) {
    data = signal;
    atomic_store_explicit(&ready, 1, memory_order_release);
}

void *work(void *arg) {
    ANNOTATE_IGNORE_SYNC_BEGIN();
    atomic_store_explicit(&started, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    ANNOTATE_IGNORE_SYNC_END();
    return arg;
}

int main(void) {
    signal(SIGUSR1, handler);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&started, memory_order_relaxed)) usleep(100);
    pthread_kill(t, SIGUSR1);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) usleep(100);
    int got = data;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    pthread_join(t, 0);
    return got != SIGUSR1;
}
