// expect: deadlock
//@ bound: 0
// Two conditions for a buffer of one place. The consumer signals the wrong one.
// Fails when: the second producer comes before the consumer: it waits for `emptied`, which nobody ever signals.
#include <pthread.h>

int items;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    while (items > 0) pthread_cond_wait(&emptied, &mu); // expect: deadlock here
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    while (items == 0) pthread_cond_wait(&filled, &mu);
    items--;
    pthread_cond_signal(&filled); // should be emptied
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&c, 0, consumer, 0);
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, producer, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    pthread_join(c, 0);
    return 0;
}
