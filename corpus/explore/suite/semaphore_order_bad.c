// expect: deadlock
//@ bound: 0
// A buffer of one place: the consumer takes the mutex before it waits for an item.
// Fails when: the consumer comes first: it holds the mutex and waits for an item that the producer can not put in.
#include <pthread.h>
#include <semaphore.h>

sem_t mutex, items, places;
int slot;

void *producer(void *arg) {
    sem_wait(&places);
    sem_wait(&mutex);                                   // expect: deadlock here
    slot = 1;
    sem_post(&mutex);
    sem_post(&items);
    return arg;
}

void *consumer(void *arg) {
    sem_wait(&mutex);
    sem_wait(&items);                                   // expect: deadlock here
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
    pthread_join(p, 0);                                 // expect: deadlock here
    pthread_join(c, 0);                                 // expect: deadlock here
    return 0;
}
