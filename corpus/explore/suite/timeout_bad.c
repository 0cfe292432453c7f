// expect: assertion
//@ bound: 0
// The waiter gives the worker five seconds and takes it for granted that the result is there afterwards.
// Fails when: the time is up before the worker has run. A timeout that fires is a choice, not a preemption.
#include <assert.h>
#include <pthread.h>
#include <time.h>

int result;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    result = 42;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&mu);
    while (result == 0 && pthread_cond_timedwait(&done, &mu, &until) == 0) {}
    assert(result == 42);                               // expect: assertion here
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    return 0;
}
