// The producer goes on writing after it has signalled and unlocked. The waiter's read is ordered after the signal, not after
// that write. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long ready, data;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
    data = 42;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    while (!ready) pthread_cond_wait(&cv, &mu);
    pthread_mutex_unlock(&mu);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + data;                          // expect: data-race read #1
}

int main(void) {
    ready = data = 0;
    pthread_t a, b;
    pthread_create(&b, 0, consumer, 0);
    pthread_create(&a, 0, producer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
