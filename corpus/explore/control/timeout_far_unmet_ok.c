// expect: nothing
// Nobody signals: an hour later the waiter gives up, and sets the flag that another thread polls, with short waits of its own.
// It must be reached, although that one can always go on.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
atomic_int over;

void *polls(void *arg) {
    struct timespec ms = {0, 1000000};
    while (!atomic_load(&over)) nanosleep(&ms, 0);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    pthread_create(&t, 0, polls, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    pthread_mutex_lock(&mu);
    int status = 0;
    while (!status) status = pthread_cond_timedwait(&never, &mu, &until);
    assert(status == ETIMEDOUT);
    pthread_mutex_unlock(&mu);
    atomic_store(&over, 1);
    return pthread_join(t, 0);
}
