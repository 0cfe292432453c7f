// expect: deadlock
//@ bound: 0
// A mutex that is not robust, and whose owner ends without giving it back.
// Fails when: the other one comes second.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *forgets(void *arg) {
    pthread_mutex_lock(&mu);
    return arg;
}

void *waits(void *arg) {
    pthread_mutex_lock(&mu);                            // expect: deadlock here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&b, 0, waits, 0);
    pthread_create(&a, 0, forgets, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
