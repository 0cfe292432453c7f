// Two semaphores hand one slot back and forth.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled, empty;
static int slot;

static void *producer(void *arg) {
    for (int i = 0; i < 5; i++) {
        sem_wait(&empty);
        slot = i;
        sem_post(&filled);
    }
    return NULL;
}

static void *consumer(void *arg) {
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        sem_wait(&filled);
        sum += slot;
        sem_post(&empty);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t a, b;
    sem_init(&filled, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sem_destroy(&filled);
    sem_destroy(&empty);
    return 0;
}
