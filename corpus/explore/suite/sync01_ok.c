// expect: nothing
// A producer that waits while the count says that it must.
#include <pthread.h>

int items = 1; // one is there already, and the capacity is one
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t empty = PTHREAD_COND_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    while (items > 0) pthread_cond_wait(&empty, &mu);
    items++;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    items--;
    pthread_cond_signal(&empty);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t p, c;
    pthread_create(&p, 0, producer, 0);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return 0;
}
