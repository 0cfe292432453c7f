// expect: nothing
// A condition variable whose time-outs are of CLOCK_MONOTONIC: it gives up when that clock has come to the time, not before.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed;
int ready;

void *sets(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    assert(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    pthread_cond_init(&changed, &attributes);
    pthread_t t;
    pthread_create(&t, 0, sets, 0);
    struct timespec until, now;
    clock_gettime(CLOCK_MONOTONIC, &until);
    time_t begun = until.tv_sec;
    until.tv_sec += 5;
    int how = 0;
    pthread_mutex_lock(&mu);
    while (!ready && how == 0) how = pthread_cond_timedwait(&changed, &mu, &until);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(ready || (how == ETIMEDOUT && now.tv_sec >= until.tv_sec));
    assert(now.tv_sec <= begun + 6); // by the other clock it would be decades
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    return 0;
}
