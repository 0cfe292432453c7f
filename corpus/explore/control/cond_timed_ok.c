// expect: nothing
// A heartbeat: the thread wakes up by timeout or by the signal to stop, in a loop that ends in both cases.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t stopping;
int stop, beats;

void *heart(void *arg) {
    pthread_mutex_lock(&mu);
    while (!stop && beats < 2) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 5 * 1000 * 1000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        int status = pthread_cond_timedwait(&stopping, &mu, &until);
        assert(status == 0 || status == ETIMEDOUT);
        if (status == ETIMEDOUT) beats++;
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&stopping, &attr);
    pthread_t t;
    pthread_create(&t, 0, heart, 0);
    pthread_mutex_lock(&mu);
    stop = 1;
    pthread_cond_signal(&stopping);
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    assert(beats <= 2);
    return 0;
}
