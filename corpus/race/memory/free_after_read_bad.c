// free() against a read: one thread reads a block that another frees, with nothing between them. The free is one end of the
// finding. Every mode reports. Here the read came first.
//@ golden
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

long *block;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    arg = (char *)arg + *block;                         // expect: data-race read #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    free(block);                                        // expect: data-race free #1
    return arg;
}

int main(void) {
    block = malloc(8 * sizeof *block);
    *block = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
