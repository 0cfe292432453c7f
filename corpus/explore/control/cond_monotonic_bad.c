// expect: assertion
//@ bound: 1
// What a condition wait by CLOCK_MONOTONIC waits for is taken to have come, also when the wait gave up.
// Fails when: the second is over before the other thread has set it.
#include <assert.h>
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
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_t t;
    pthread_create(&t, 0, sets, 0);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&mu);
    while (!ready)
        if (pthread_cond_timedwait(&changed, &mu, &until) != 0) break;
    assert(ready);                                      // expect: assertion here
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    return 0;
}
