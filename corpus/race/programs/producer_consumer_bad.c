// A ring for one producer and one consumer whose indices are plain integers: it works on x86, most of the time. The consumer
// starts when the first item is in. Every mode reports the index and the slot.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SLOTS = 8 };
long ring[SLOTS];
long head, tail;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *produce(void *arg) {
    ring[0] = 42;                                       // expect: data-race write #1
    head = 1;                                           // expect: data-race write #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *consume(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (tail < head)                                    // expect: data-race read #2
        arg = (char *)arg + ring[tail++ % SLOTS];       // expect: data-race read #1
    return arg;
}

int main(void) {
    ring[0] = head = tail = 0;
    pthread_t a, b;
    pthread_create(&a, 0, produce, 0);
    pthread_create(&b, 0, consume, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
