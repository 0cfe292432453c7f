// expect: nothing
// A recursive mutex: taken twice, given back twice; the other thread gets it only after the second time.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu;
int inside;

void *worker(void *arg) {
    assert(pthread_mutex_lock(&mu) == 0);
    assert(inside == 0);
    inside = 1;
    assert(pthread_mutex_lock(&mu) == 0);
    assert(pthread_mutex_trylock(&mu) == 0);
    assert(pthread_mutex_unlock(&mu) == 0);
    assert(pthread_mutex_unlock(&mu) == 0);
    assert(inside == 1);
    inside = 0;
    assert(pthread_mutex_unlock(&mu) == 0);
    return arg;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mu, &attr);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_mutex_destroy(&mu) == 0);
    return 0;
}
