// One thread forgets the lock. The other holds it: no common lock, and no arc, since the second never takes it. Every mode.
//@ golden
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int balance;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    balance = 1;                                        // expect: data-race write #1
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    balance = 2;                                        // expect: data-race write #1
    return arg;
}

int main(void) {
    balance = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
