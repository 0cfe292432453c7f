// expect: nothing
// An error-checking mutex says EDEADLK to a second lock and EPERM to an unlock by another thread, or of a free mutex.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mu;

void *stranger(void *arg) {
    assert(pthread_mutex_unlock(&mu) == EPERM);
    int status = pthread_mutex_trylock(&mu);
    assert(status == EBUSY || status == 0);
    if (status == 0) assert(pthread_mutex_unlock(&mu) == 0);
    return arg;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mu, &attr);
    pthread_t t;
    pthread_create(&t, 0, stranger, 0);
    assert(pthread_mutex_lock(&mu) == 0);
    assert(pthread_mutex_lock(&mu) == EDEADLK);
    assert(pthread_mutex_unlock(&mu) == 0);
    pthread_join(t, 0);
    assert(pthread_mutex_unlock(&mu) == EPERM);
    return 0;
}
