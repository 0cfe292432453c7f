// expect: deadlock
//@ bound: 1
// A gate for two that is opened with one signal.
// Fails when: both wait already: one of them is never woken.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
int is_open;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    while (!is_open) pthread_cond_wait(&opened, &mu);   // expect: deadlock here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_mutex_lock(&mu);
    is_open = 1;
    pthread_cond_signal(&opened); // should be broadcast
    pthread_mutex_unlock(&mu);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
