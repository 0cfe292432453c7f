// expect: crash
//@ bound: 0
// A state machine that calls abort when a message comes in the wrong state.
// Fails when: the closer runs before the sender.
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int closed;

void *sender(void *arg) {
    pthread_mutex_lock(&mu);
    if (closed) abort();                                // expect: crash here
    pthread_mutex_unlock(&mu);
    return arg;
}

void *closer(void *arg) {
    pthread_mutex_lock(&mu);
    closed = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, closer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
