// A semaphore of two lets two in at a time.
#include <pthread.h>
#include <semaphore.h>

static sem_t sem;
static int shared;

static void *worker(void *arg) {
    sem_wait(&sem);
    shared++; // expect: data-race write #1, data-race read #1
    sem_post(&sem);
    return NULL;
}

int main(void) {
    pthread_t t[3];
    sem_init(&sem, 0, 2);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
