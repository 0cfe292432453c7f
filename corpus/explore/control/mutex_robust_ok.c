// expect: nothing
// A robust mutex whose owner ends without giving it back: the next one gets EOWNERDEAD, repairs it, and all goes on.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mu;
int half_done;

void *dies(void *arg) {
    int status = pthread_mutex_lock(&mu);
    assert(status == 0);
    half_done = 1;
    return arg; // without unlock
}

void *repairs(void *arg) {
    int status = pthread_mutex_lock(&mu);
    assert(status == 0 || status == EOWNERDEAD);
    if (status == EOWNERDEAD) {
        half_done = 0;
        assert(pthread_mutex_consistent(&mu) == 0);
    }
    assert(half_done == 0);
    assert(pthread_mutex_unlock(&mu) == 0);
    return arg;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mu, &attr);
    pthread_t a, b;
    pthread_create(&a, 0, dies, 0);
    pthread_create(&b, 0, repairs, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
