// Two races in one aligned word, on different bytes: each is reported, the first does not silence the second. "Once a data
// race is reported on ID, we ignore the consequent accesses to ID" (4.2), and an ID is one byte. Every mode reports both,
// as one finding: they are one variable in the same two functions.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

_Alignas(8) struct { int low, high; } pair;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pair.low = 1;                                       // expect: data-race write #1
    pair.high = 1;                                      // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pair.low = 2;                                       // expect: data-race write #1
    pair.high = 2;                                      // expect: data-race write #1
    return arg;
}

int main(void) {
    pair.low = pair.high = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
