// expect: nothing
// The waiter would give up in 49 days, and the notifier needs a few lines: no user will ever see it give up.
#include <assert.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;
int ready;

void *notifier(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    int status = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 49 * 86400;
    pthread_mutex_lock(&mu);
    pthread_create(&t, 0, notifier, 0);
    while (!ready && !status) status = pthread_cond_timedwait(&done, &mu, &until);
    assert(!status);
    pthread_mutex_unlock(&mu);
    return pthread_join(t, 0);
}
