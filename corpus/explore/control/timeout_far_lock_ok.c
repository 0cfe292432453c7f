// expect: nothing
// A mutex and a read-write lock that are held for a few lines, waited for, for an hour at most.
#include <assert.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int n;

void *holder(void *arg) {
    pthread_mutex_lock(&mu);
    n++;
    pthread_mutex_unlock(&mu);
    pthread_rwlock_wrlock(&rw);
    n++;
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    pthread_create(&t, 0, holder, 0);
    int first = pthread_mutex_timedlock(&mu, &until);
    assert(first == 0);
    pthread_mutex_unlock(&mu);
    int second = pthread_rwlock_timedrdlock(&rw, &until);
    assert(second == 0);
    pthread_rwlock_unlock(&rw);
    return pthread_join(t, 0);
}
