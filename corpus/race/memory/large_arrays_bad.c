// The same with an off-by-one: two parts share one element in sixteen megabytes. Every mode reports it: main cleared that
// part of the array by hand.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 4 * 1024 * 1024 };
int *array;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *lower(void *arg) {
    for (int i = 0; i <= N / 2; i += 4) {
        array[i] = 1;                                   // expect: data-race write #1
    }
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *upper(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    for (int i = N / 2; i < N; i += 4) {
        array[i] = 2;                                   // expect: data-race write #1
    }
    return arg;
}

int main(void) {
    array = calloc(N, sizeof *array);
    for (int i = N / 2 - 64; i < N / 2 + 64; i++) array[i] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, lower, 0);
    pthread_create(&b, 0, upper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(array);
    return 0;
}
