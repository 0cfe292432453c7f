// Two different spinlocks around the same data. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
pthread_spinlock_t mu1, mu2;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_spin_lock(&mu1);
    shared = 1;                                         // expect: data-race write #1
    pthread_spin_unlock(&mu1);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_spin_lock(&mu2);
    shared = 2;                                         // expect: data-race write #1
    pthread_spin_unlock(&mu2);
    return arg;
}

int main(void) {
    pthread_spin_init(&mu1, 0);
    pthread_spin_init(&mu2, 0);
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
