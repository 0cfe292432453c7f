// expect: deadlock
//@ bound: 0
// The lock is taken before there is a thread, and its owner waits for one that wants it.
// Fails when: always.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);                          // expect: deadlock here
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_mutex_lock(&lock);
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    pthread_mutex_unlock(&lock);
    return 0;
}
