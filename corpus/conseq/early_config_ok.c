// expect: nothing
// The twin of early_config_bad.c: a semaphore says that the setting is there.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int limit;
sem_t ready;

void *serve(void *arg) {
    sem_wait(&ready);
    printf("serving up to %d clients\n", limit);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&ready, 0, 0);
    pthread_create(&t, 0, serve, 0);
    limit = 64;
    sem_post(&ready);
    pthread_join(t, 0);
    return 0;
}
