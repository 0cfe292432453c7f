// free() against a read, the free first: a use after free that another schedule would not have. No order, so a race between
// free and read, in every mode. (The block is kept from being given out again: nobody allocates in between.)
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

long *block;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    free(block);                                        // expect: data-race free #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    long seen = *(volatile long *)(block + 4);          // expect: data-race read #1
    arg = (char *)arg + seen;
    return arg;
}

int main(void) {
    block = malloc(8 * sizeof *block);
    block[0] = block[4] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
