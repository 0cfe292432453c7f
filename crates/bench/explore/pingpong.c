// Two threads hand a token to and fro, 500 times each: at every moment one of them can go on, so there are 1,000 hand-overs in
// every execution. What solo.c does is the same number of the same operations by one thread.
#include <pthread.h>
#include <semaphore.h>

static sem_t ping, pong;

static void *answer(void *unused) {
    for (int i = 0; i < 500; i++) {
        sem_wait(&ping);
        sem_post(&pong);
    }
    return unused;
}

int main(void) {
    pthread_t other;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&other, 0, answer, 0);
    for (int i = 0; i < 500; i++) {
        sem_post(&ping);
        sem_wait(&pong);
    }
    pthread_join(other, 0);
    return 0;
}
