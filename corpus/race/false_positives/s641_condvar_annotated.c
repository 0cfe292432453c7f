// 6.4.1 with ANNOTATE_CONDVAR_LOCK_WAIT: the WAIT event that matches the signal is made though pthread_cond_wait was
// never called. Silent in every mode; without the line, hybrid and fast report (see s641_condvar_plain).
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int obj, c;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *thread1(void *arg) {
    obj = 1;
    pthread_mutex_lock(&mu);
    c = 1;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *thread2(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    while (!c) pthread_cond_wait(&cv, &mu);
    ANNOTATE_CONDVAR_LOCK_WAIT(&cv, &mu);
    pthread_mutex_unlock(&mu);
    obj = 2;
    return arg;
}

int main(void) {
    obj = c = 0;
    pthread_t a, b;
    pthread_create(&a, 0, thread1, 0);
    pthread_create(&b, 0, thread2, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
