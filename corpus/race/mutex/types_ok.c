// Every type of mutex, rightly used: normal, recursive (taken twice), errorcheck, adaptive; by lock, trylock, timedlock and
// clocklock. One counter each. Silent in every mode; taking a recursive mutex again is no lock-order edge.
// expect: nothing
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { TYPES = 4, ROUNDS = 300 };
const int types[TYPES] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
struct { pthread_mutex_t mu; long count; } slot[TYPES];

static void acquire(pthread_mutex_t *mu, int way) {
    struct timespec until;
    clock_gettime(way == 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    int status = EBUSY;
    if (way == 0) status = pthread_mutex_lock(mu);
    if (way == 1) while ((status = pthread_mutex_trylock(mu)) == EBUSY) {}
    if (way == 2) status = pthread_mutex_timedlock(mu, &until);
    if (way == 3) status = pthread_mutex_clocklock(mu, CLOCK_MONOTONIC, &until);
    if (status != 0) abort();
}

void *work(void *arg) {
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < TYPES; k++) {
            acquire(&slot[k].mu, (i + k) % 4);
            if (types[k] == PTHREAD_MUTEX_RECURSIVE) acquire(&slot[k].mu, i % 4);
            if (types[k] == PTHREAD_MUTEX_ERRORCHECK && pthread_mutex_lock(&slot[k].mu) != EDEADLK) abort();
            slot[k].count++;
            if (types[k] == PTHREAD_MUTEX_RECURSIVE) pthread_mutex_unlock(&slot[k].mu);
            slot[k].count++; // still held: the first of two unlocks does not release
            pthread_mutex_unlock(&slot[k].mu);
        }
    return arg;
}

int main(void) {
    for (int k = 0; k < TYPES; k++) {
        pthread_mutexattr_t attr;
        pthread_mutexattr_init(&attr);
        pthread_mutexattr_settype(&attr, types[k]);
        pthread_mutex_init(&slot[k].mu, &attr);
        slot[k].count = 0;
    }
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    for (int k = 0; k < TYPES; k++) {
        if (slot[k].count != 3 * 2 * ROUNDS) return 1;
        pthread_mutex_destroy(&slot[k].mu);
    }
    return 0;
}
