// expect: deadlock
// A thread is cancelled in a condition wait without a clean-up handler: it has taken its mutex again and keeps it for ever.
// Fails when: the thread has begun to wait before it is cancelled, or comes to its wait afterwards: always, if it gets the mutex.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    for (;;) pthread_cond_wait(&never, &mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_cancel(t);
    pthread_join(t, 0);
    pthread_mutex_lock(&mu);                            // expect: deadlock here
    pthread_mutex_unlock(&mu);
    return 0;
}
