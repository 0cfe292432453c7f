// A free hidden by a lock: a reader has finished with the block and unlocked something else; the other thread then takes
// that lock and frees. hb is silent in this run, hybrid and fast report the free.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

long *block, other;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    arg = (char *)arg + *block;                         // expect(hybrid fast): data-race read #1
    pthread_mutex_lock(&mu);
    other++;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    other++;
    pthread_mutex_unlock(&mu);
    free(block);                                        // expect(hybrid fast): data-race free #1
    return arg;
}

int main(void) {
    block = calloc(1, sizeof *block);
    *block = other = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
