// The consumer does not wait for the semaphore.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled;
static int slot;

static void *producer(void *arg) {
    slot = 5; // expect: data-race write #1
    sem_post(&filled);
    return NULL;
}

static void *consumer(void *arg) {
    return (void *)(long)slot; // expect: data-race read #1
}

int main(void) {
    pthread_t a, b;
    sem_init(&filled, 0, 0);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
