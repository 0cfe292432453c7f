// expect: nothing
// A driver's stop flag: the worker counts itself in first and tests the flag afterwards.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int stopping, stopped;
atomic_int pending = 1; // the driver itself
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
int drained;

static void leave(void) {
    if (atomic_fetch_sub(&pending, 1) != 1) return;
    pthread_mutex_lock(&mu);
    drained = 1;
    pthread_cond_signal(&idle);
    pthread_mutex_unlock(&mu);
}

void *worker(void *arg) {
    atomic_fetch_add(&pending, 1);
    if (!atomic_load(&stopping)) assert(!atomic_load(&stopped));
    leave();
    return arg;
}

void *stopper(void *arg) {
    atomic_store(&stopping, 1);
    leave();
    pthread_mutex_lock(&mu);
    while (!drained) pthread_cond_wait(&idle, &mu);
    pthread_mutex_unlock(&mu);
    atomic_store(&stopped, 1);
    return arg;
}

int main(void) {
    pthread_t w, s;
    pthread_create(&w, 0, worker, 0);
    pthread_create(&s, 0, stopper, 0);
    pthread_join(w, 0);
    pthread_join(s, 0);
    return 0;
}
