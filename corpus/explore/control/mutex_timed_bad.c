// expect: assertion
//@ bound: 2
// timedlock that is taken to succeed because five seconds are long.
// Fails when: main is preempted before it locks, the other thread while it holds the mutex, and the timeout fires.
#include <assert.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *holder(void *arg) {
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_create(&t, 0, holder, 0);
    int status = pthread_mutex_timedlock(&mu, &until);
    assert(status == 0);                                // expect: assertion here
    counter++;
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    return 0;
}
