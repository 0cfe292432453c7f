// As new_memory, without the annotation: hybrid and fast report, falsely; hb has the allocator's lock and is silent.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

long arena[8];
long *free_list; // under mu
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static long *allocate(void) {
    pthread_mutex_lock(&mu);
    long *block = free_list;
    free_list = 0;
    pthread_mutex_unlock(&mu);
    return block;
}

static void release(long *block) {
    pthread_mutex_lock(&mu);
    free_list = block;
    pthread_mutex_unlock(&mu);
}

void *first(void *arg) {
    long *block = allocate();
    block[3] = 1;                                       // expect(hybrid fast): data-race write #1
    release(block);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    long *block = allocate();
    block[3] = 2;                                       // expect(hybrid fast): data-race write #1
    release(block);
    return arg;
}

int main(void) {
    free_list = arena;
    arena[3] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
