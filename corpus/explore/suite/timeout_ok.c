// expect: nothing
// The waiter looks at what the wait returned, and does without the result when the time is up.
#include <assert.h>
#include <errno.h>
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
    int status = 0;
    while (result == 0 && status == 0) status = pthread_cond_timedwait(&done, &mu, &until);
    assert(result == 42 || status == ETIMEDOUT);
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    assert(result == 42);
    return 0;
}
