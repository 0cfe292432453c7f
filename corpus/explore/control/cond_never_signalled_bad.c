// expect: deadlock
//@ bound: 0
//@ always
// Nobody signals: spurious wake-ups may come, but the loop waits again, so they do not make this anything but a deadlock.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    while (!ready) pthread_cond_wait(&changed, &mu);    // expect: deadlock here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
