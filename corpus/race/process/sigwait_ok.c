// A thread that does nothing but sigwait, sigtimedwait and sigwaitinfo for signals sent by pthread_kill and kill. What it
// shares with the others is under a mutex. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long seen;

void *waits(void *arg) {
    sigset_t *set = arg;
    for (int i = 0, signal = 0; signal != SIGUSR2; i++) {
        struct timespec second = {1, 0};
        if (i % 3 == 0 && sigwait(set, &signal) != 0) abort();
        if (i % 3 == 1) signal = sigwaitinfo(set, 0);
        if (i % 3 == 2) signal = sigtimedwait(set, 0, &second);
        pthread_mutex_lock(&mu);
        seen++;
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

static long get(void) {
    pthread_mutex_lock(&mu);
    long n = seen;
    pthread_mutex_unlock(&mu);
    return n;
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t t;
    pthread_create(&t, 0, waits, &set);
    for (int i = 0; i < 30; i++) {
        if (i % 2) pthread_kill(t, SIGUSR1);
        else kill(getpid(), SIGUSR1);
        while (get() <= i) usleep(100);
    }
    pthread_kill(t, SIGUSR2);
    pthread_join(t, 0);
    return seen != 31;
}
