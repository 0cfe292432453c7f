// What looks like misuse and is none: a recursive mutex taken twice, one that checks errors asked about it, a robust one
// of a thread that has died, a failed try, a wait with a recursive mutex held twice.
// expect: nothing
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t make(int type, int robust) {
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    if (robust) pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &a);
    return m;
}

pthread_mutex_t recursive, checking, robust, adaptive;

void *work(void *arg) {
    if (pthread_mutex_unlock(&checking) != EPERM) abort();
    if (pthread_mutex_trylock(&adaptive) != EBUSY) abort();
    pthread_mutex_lock(&robust);
    return arg;
}

int main(void) {
    recursive = make(PTHREAD_MUTEX_RECURSIVE, 0);
    checking = make(PTHREAD_MUTEX_ERRORCHECK, 0);
    robust = make(PTHREAD_MUTEX_NORMAL, 1);
    adaptive = make(PTHREAD_MUTEX_ADAPTIVE_NP, 0);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&checking);
    if (pthread_mutex_lock(&checking) != EDEADLK) abort();
    pthread_mutex_lock(&adaptive);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    if (pthread_mutex_lock(&robust) != EOWNERDEAD) abort();
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    pthread_mutex_unlock(&adaptive);
    pthread_mutex_unlock(&checking);
    pthread_mutex_destroy(&adaptive);
    pthread_mutex_destroy(&checking);
    pthread_mutex_destroy(&recursive);
    pthread_mutex_destroy(&robust);
    return 0;
}
