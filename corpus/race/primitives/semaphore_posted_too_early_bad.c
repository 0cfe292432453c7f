// The post comes before the data it announces. Every mode reports.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

long data;
sem_t ready;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *producer(void *arg) {
    sem_post(&ready);
    data = 1;                                           // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *consumer(void *arg) {
    sem_wait(&ready);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + data;                          // expect: data-race read #1
}

int main(void) {
    sem_init(&ready, 0, 0);
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
