// A failed sem_trywait and an expired sem_timedwait have seen no post. Every mode reports.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

long data[2];
sem_t ready;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *producer(void *arg) {
    data[0] = 1;                                        // expect: data-race write #1
    data[1] = 1;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    sem_post(&ready);
    return arg;
}

void *consumer(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    struct timespec past = {1, 0};
    long seen = 0;
    if (sem_trywait(&ready) != 0) seen += data[0];      // expect: data-race read #1
    if (sem_timedwait(&ready, &past) != 0) seen += data[1]; // expect: data-race read #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return (char *)arg + seen;
}

int main(void) {
    sem_init(&ready, 0, 0);
    data[0] = data[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
