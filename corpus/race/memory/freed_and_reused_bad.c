// The block is freed, and asked for again at once, before another thread reads what it used to be.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int *volatile block;
char *volatile next;
volatile int sink;
atomic_int step;

void *release(void *arg) {
    free(block); // expect: data-race free #1
    next = malloc(400);
    next[12] = 1;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    sink = block[3]; // expect: data-race read #1
    return arg;
}

int main(void) {
    block = malloc(400);
    block[3] = 7;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, release, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
