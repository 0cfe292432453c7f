// The flag that goes with the condition variable is set without the mutex: wake-ups can get lost. Every mode reports the flag.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long ready;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *producer(void *arg) {
    ready = 1;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    pthread_cond_signal(&cv);
    return arg;
}

void *consumer(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    while (!ready) pthread_cond_wait(&cv, &mu);         // expect: data-race read #1
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    ready = 0;
    pthread_t a, b;
    pthread_create(&b, 0, consumer, 0);
    pthread_create(&a, 0, producer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
