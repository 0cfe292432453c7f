// One barrier where two are needed: a fast thread writes its next value while a slow one still reads the last. Every mode
// reports: the write of phase 1 and the neighbour's read after the same barrier have no arc between them.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long cells[2];
pthread_barrier_t barrier;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *fast(void *arg) {
    cells[0] = 1;
    pthread_barrier_wait(&barrier);
    cells[0] = 2;                                       // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *slow(void *arg) {
    cells[1] = 1;
    pthread_barrier_wait(&barrier);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + cells[0];                      // expect: data-race read #1
}

int main(void) {
    pthread_barrier_init(&barrier, 0, 2);
    cells[0] = cells[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, fast, 0);
    pthread_create(&b, 0, slow, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
