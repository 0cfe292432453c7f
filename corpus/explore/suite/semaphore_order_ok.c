// expect: nothing
// A buffer of one place: each side waits for its turn first and takes the mutex last.
#include <pthread.h>
#include <semaphore.h>

sem_t mutex, items, places;
int slot;

void *producer(void *arg) {
    sem_wait(&places);
    sem_wait(&mutex);
    slot = 1;
    sem_post(&mutex);
    sem_post(&items);
    return arg;
}

void *consumer(void *arg) {
    sem_wait(&items);
    sem_wait(&mutex);
    slot = 0;
    sem_post(&mutex);
    sem_post(&places);
    return arg;
}

int main(void) {
    sem_init(&mutex, 0, 1);
    sem_init(&items, 0, 0);
    sem_init(&places, 0, 1);
    pthread_t p, c;
    pthread_create(&p, 0, producer, 0);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return slot;
}
