// expect: nothing
// Two conditions for a buffer of one place. Each side signals the other one.
#include <pthread.h>

int items;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    while (items > 0) pthread_cond_wait(&emptied, &mu);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    while (items == 0) pthread_cond_wait(&filled, &mu);
    items--;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&c, 0, consumer, 0);
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, producer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
