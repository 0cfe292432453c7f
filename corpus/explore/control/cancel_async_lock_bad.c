// expect: deadlock
//@ bound: 1
// A thread that may be ended at any moment takes a lock.
// Fails when: it is asked to end while it holds the lock, which nobody gives back then.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *locks(void *arg) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    pthread_mutex_lock(&mu);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, locks, 0);
    pthread_cancel(t);
    pthread_join(t, 0);
    pthread_mutex_lock(&mu); // expect: deadlock here
    pthread_mutex_unlock(&mu);
    return 0;
}
