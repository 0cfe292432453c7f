// expect: deadlock
//@ bound: 1
// A home-made readers-writer lock with upgrade: a reader that wants to write waits until it is the only one left.
// Fails when: both are readers and both ask for the upgrade: each waits for the other to leave.
#include <pthread.h>

int readers, value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t left = PTHREAD_COND_INITIALIZER;

void *updater(void *arg) {
    pthread_mutex_lock(&mu);
    readers++;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu); // upgrade
    while (readers > 1) pthread_cond_wait(&left, &mu);  // expect: deadlock here
    value++;
    readers--;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, updater, 0);
    pthread_create(&b, 0, updater, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
