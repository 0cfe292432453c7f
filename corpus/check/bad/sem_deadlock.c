// Two binary semaphores in opposite orders.
#include <pthread.h>
#include <semaphore.h>

static sem_t a_sem, b_sem;

static void *first(void *arg) {
    sem_wait(&a_sem);
    sem_wait(&b_sem); // expect: deadlock #1
    sem_post(&b_sem);
    sem_post(&a_sem);
    return NULL;
}

static void *second(void *arg) {
    sem_wait(&b_sem);
    sem_wait(&a_sem); // expect: deadlock #1
    sem_post(&a_sem);
    sem_post(&b_sem);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    sem_init(&a_sem, 0, 1);
    sem_init(&b_sem, 0, 1);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL); // expect: deadlock #1
    pthread_join(b, NULL); // expect: deadlock #1
    return 0;
}
