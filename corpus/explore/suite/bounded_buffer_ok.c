// expect: nothing
// A buffer of one place with a condition variable for each side.
#include <pthread.h>

int full;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    while (full) pthread_cond_wait(&emptied, &mu);
    full = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    while (!full) pthread_cond_wait(&filled, &mu);
    full = 0;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], 0, producer, 0);
    pthread_create(&t[1], 0, producer, 0);
    pthread_create(&t[2], 0, consumer, 0);
    pthread_create(&t[3], 0, consumer, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
