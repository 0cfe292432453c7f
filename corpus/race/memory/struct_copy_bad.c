// Copying a structure reads and writes all of it, whether the compiler makes moves or a memcpy of it. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct big { long values[20]; } source, target;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    source.values[7] = 1;                               // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    target = source;                                    // expect: data-race read #1
    return arg;
}

int main(void) {
    source.values[7] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (target.values[7] != 1) return 1;
    return 0;
}
