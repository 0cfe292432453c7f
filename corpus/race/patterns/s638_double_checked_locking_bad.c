// 6.3.8, double-checked locking: the first test of `inited` is outside the lock. A race on `inited`, and on what it
// stands for, in every mode: the second thread sees `inited` set and never takes the lock, so there is no arc.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long inited, value; // two words: each is a race of its own
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) long get(void) {
    if (!inited) {                                      // expect: data-race read #1
        pthread_mutex_lock(&mu);
        if (!inited) {
            value = 42;                                 // expect: data-race write #2
        }
        inited = 1;                                     // expect: data-race write #1
        pthread_mutex_unlock(&mu);
    }
    return value;                                       // expect: data-race read #2
}

void *first(void *arg) {
    get();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    get();
    return arg;
}

int main(void) {
    inited = value = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
