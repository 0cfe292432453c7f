// expect: deadlock
//@ bound: 0
//@ always
// A plain mutex taken twice by the same thread, which is alone.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    pthread_mutex_lock(&mu);                            // expect: deadlock here
    pthread_mutex_unlock(&mu);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
