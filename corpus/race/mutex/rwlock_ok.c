// Read-write locks by every door: rdlock, wrlock, try, timed and clock forms. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;
long pair[2];

static struct timespec later(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 10;
    return t;
}

static void lock_read(int way) {
    struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC);
    if (way == 0) pthread_rwlock_rdlock(&mu);
    if (way == 1) while (pthread_rwlock_tryrdlock(&mu) != 0) {}
    if (way == 2 && pthread_rwlock_timedrdlock(&mu, &real) != 0) abort();
    if (way == 3 && pthread_rwlock_clockrdlock(&mu, CLOCK_MONOTONIC, &mono) != 0) abort();
}

static void lock_write(int way) {
    struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC);
    if (way == 0) pthread_rwlock_wrlock(&mu);
    if (way == 1) while (pthread_rwlock_trywrlock(&mu) != 0) {}
    if (way == 2 && pthread_rwlock_timedwrlock(&mu, &real) != 0) abort();
    if (way == 3 && pthread_rwlock_clockwrlock(&mu, CLOCK_MONOTONIC, &mono) != 0) abort();
}

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) {
        if (i % 5 == 0) {
            lock_write(i / 5 % 4);
            pair[0]++;
            pair[1]++;
        } else {
            lock_read(i % 4);
            if (pair[0] != pair[1]) abort();
        }
        pthread_rwlock_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pair[0] = pair[1] = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return pair[0] != 600;
}
