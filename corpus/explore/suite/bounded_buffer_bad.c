// expect: deadlock
//@ bound: 0
// A buffer of one place, two producers and two consumers, and one condition variable for both sides: a signal may wake one's own
// kind.
// Fails when: both consumers wait; one producer fills the place and wakes consumer A; the other producer, finding it full, waits
// too; A empties it and its signal wakes consumer B, which finds nothing; producer and B wait for ever.
#include <pthread.h>

int full;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    while (full) pthread_cond_wait(&changed, &mu);      // expect: deadlock here
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&mu);
    while (!full) pthread_cond_wait(&changed, &mu);     // expect: deadlock here
    full = 0;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], 0, producer, 0);
    pthread_create(&t[1], 0, producer, 0);
    pthread_create(&t[2], 0, consumer, 0);
    pthread_create(&t[3], 0, consumer, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);  // expect: deadlock here
    return 0;
}
