// What looks like the hidden races and is none: the data is handed over by a semaphore as well, or is under the same lock, or
// belongs to one thread. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>

long by_semaphore, by_lock, mine[2];
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
sem_t ready;

void *first(void *arg) {
    mine[0] = 1;
    by_semaphore = 1;
    pthread_mutex_lock(&mu);
    by_lock++;
    pthread_mutex_unlock(&mu);
    sem_post(&ready);
    mine[0] = 2;
    return arg;
}

void *second(void *arg) {
    mine[1] = 1;
    pthread_mutex_lock(&mu);
    by_lock++;
    pthread_mutex_unlock(&mu);
    mine[1] = 2;
    sem_wait(&ready);
    by_semaphore = 2;
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    for (int i = 0; i < 50; i++) {
        by_semaphore = 0;
        pthread_t a, b;
        pthread_create(&a, 0, first, 0);
        pthread_create(&b, 0, second, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        if (by_semaphore != 2) return 1;
    }
    return by_lock != 100;
}
