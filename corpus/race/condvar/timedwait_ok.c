// pthread_cond_timedwait and clockwait that now and then run into their time-outs; the mutex is held again either way.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long items, taken, closed;

void *consume(void *arg) {
    pthread_mutex_lock(&mu);
    for (int i = 0; !closed || items; i++) {
        struct timespec t;
        clock_gettime(i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
        t.tv_nsec += 200000;
        if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
        if (!items && !closed) {
            if (i % 2) pthread_cond_clockwait(&cv, &mu, CLOCK_MONOTONIC, &t);
            else pthread_cond_timedwait(&cv, &mu, &t);
        }
        if (items) items--, taken++;
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    items = taken = closed = 0;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, consume, 0);
    for (int i = 0; i < 100; i++) {
        if (i % 10 == 0) usleep(500);
        pthread_mutex_lock(&mu);
        items++;
        pthread_cond_signal(&cv);
        pthread_mutex_unlock(&mu);
    }
    pthread_mutex_lock(&mu);
    closed = 1;
    pthread_cond_broadcast(&cv);
    pthread_mutex_unlock(&mu);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return taken != 100;
}
