// A recursive mutex taken twice and released twice: after the last unlock the lock is gone, and the write comes too late. It
// is after the unlock that would order it, so every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
pthread_mutex_t mu;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu);
    pthread_mutex_lock(&mu);
    pthread_mutex_unlock(&mu);
    pthread_mutex_unlock(&mu);
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    shared = 2;                                         // expect: data-race write #1
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mu, &attr);
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
