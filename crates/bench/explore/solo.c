// The operations of pingpong.c, all by one thread while main waits for it: no hand-over between them.
#include <pthread.h>
#include <semaphore.h>

static sem_t ping, pong;

static void *both(void *unused) {
    for (int i = 0; i < 500; i++) {
        sem_post(&ping);
        sem_wait(&ping);
        sem_post(&pong);
        sem_wait(&pong);
    }
    return unused;
}

int main(void) {
    pthread_t other;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&other, 0, both, 0);
    pthread_join(other, 0);
    return 0;
}
