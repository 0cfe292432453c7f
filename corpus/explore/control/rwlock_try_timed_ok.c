// expect: nothing
// Every way to ask for a readers-writer lock; whatever the schedule says, the count of those who got in is right.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
atomic_int writers, readers;

void *tries(void *arg) {
    int status = pthread_rwlock_tryrdlock(&rw);
    assert(status == 0 || status == EBUSY);
    if (status) return arg;
    atomic_fetch_add(&readers, 1);
    assert(atomic_load(&writers) == 0);
    atomic_fetch_sub(&readers, 1);
    pthread_rwlock_unlock(&rw);
    return arg;
}

void *timed(void *arg) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    int status = pthread_rwlock_timedwrlock(&rw, &until);
    assert(status == 0 || status == ETIMEDOUT);
    if (status) return arg;
    atomic_fetch_add(&writers, 1);
    assert(atomic_load(&readers) == 0);
    atomic_fetch_sub(&writers, 1);
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, tries, 0);
    pthread_create(&b, 0, timed, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
