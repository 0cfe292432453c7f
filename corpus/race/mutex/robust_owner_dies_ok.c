// A robust mutex whose owner ends while holding it: the next one gets EOWNERDEAD, makes the data consistent and goes on. It
// holds the lock, and the dead owner's end releases it, so the data is protected. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mu;
long state;

void *dies(void *arg) {
    int status = pthread_mutex_lock(&mu);
    if (status == EOWNERDEAD) pthread_mutex_consistent(&mu);
    else if (status != 0) abort();
    state++;
    return arg; // without unlocking
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mu, &attr);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, dies, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    if (pthread_mutex_lock(&mu) != EOWNERDEAD) return 1;
    pthread_mutex_consistent(&mu);
    long seen = state;
    pthread_mutex_unlock(&mu);
    return seen != 4;
}
