// expect: deadlock
//@ bound: 2
// A pool of two workers: shutdown sets the flag without the lock and broadcasts.
// Fails when: a worker has found the queue empty and the flag down and is preempted before it waits; shutdown broadcasts to nobody
// (or only to the other one); the worker waits for ever.
#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 2 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work = PTHREAD_COND_INITIALIZER;
atomic_int stop;
int queued = 1, done;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    for (;;) {
        while (!queued && !atomic_load(&stop)) pthread_cond_wait(&work, &mu); // expect: deadlock here
        if (!queued) break;
        queued--;
        done++;
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], 0, worker, 0);
    atomic_store(&stop, 1);
    pthread_cond_broadcast(&work);
    for (int i = 0; i < WORKERS; i++) pthread_join(t[i], 0); // expect: deadlock here
    return done != 1;
}
