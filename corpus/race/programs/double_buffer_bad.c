// The buffers are swapped by one thread after the barrier, while the other already reads the pointer: a second barrier is
// missing. Every mode reports the pointer.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long buffer[2];
long *front;
pthread_barrier_t barrier;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *swapper(void *arg) {
    pthread_barrier_wait(&barrier);
    front = &buffer[1];                                 // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *drawer(void *arg) {
    pthread_barrier_wait(&barrier);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + *front;                        // expect: data-race read #1
}

int main(void) {
    front = &buffer[0];
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t a, b;
    pthread_create(&a, 0, swapper, 0);
    pthread_create(&b, 0, drawer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
