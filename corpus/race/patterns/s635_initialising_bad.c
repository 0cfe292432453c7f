// 6.3.5 in C: a lazily made table. Every mode reports the pointer.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int *table;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) void init_table(void) {
    if (!table)                                         // expect: data-race read #1
        table = calloc(16, sizeof *table);              // expect: data-race write #1
}

void *first(void *arg) {
    init_table();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    init_table();
    return arg;
}

int main(void) {
    table = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(table);
    return 0;
}
