// realloc() that moves the block frees the old one, against a write to it. Every mode reports the free at realloc's line.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

long *block, *moved;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    block[1] = 1;                                       // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    moved = realloc(block, 1 << 20);                    // expect: data-race free #1 | read #1
    return arg;
}

int main(void) {
    block = malloc(8 * sizeof *block);
    block[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(moved);
    return 0;
}
