// IGNORE_SYNC: the hand-over by an atomic is the program's accident and not to be relied on.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int data;
atomic_int ready;

void *work(void *arg) {
    data = 1;                                           // expect: data-race write #1
    ANNOTATE_IGNORE_SYNC_BEGIN();
    atomic_store_explicit(&ready, 1, memory_order_release);
    ANNOTATE_IGNORE_SYNC_END();
    for (int i = 0; i < 100; i++) usleep(100);
    return arg;
}

int main(void) {
    data = 0;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) usleep(100);
    data = 2;                                           // expect: data-race write #1
    pthread_join(t, 0);
    return 0;
}
