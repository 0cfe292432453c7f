// expect: assertion
//@ bound: 1
// The first thread does not wait for the others: most schedules are over before anything has happened, and are not worth much.
// Fails when: the one that checks is the last of three.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int balance, deposited, withdrawn;

void *deposit(void *arg) {
    pthread_mutex_lock(&mu);
    balance += 2;
    deposited = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *withdraw(void *arg) {
    pthread_mutex_lock(&mu);
    balance -= 4;
    withdrawn = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *check(void *arg) {
    pthread_mutex_lock(&mu);
    if (deposited && withdrawn) assert(balance == 0);   // expect: assertion here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t c, d, w;
    pthread_create(&c, 0, check, 0);
    pthread_create(&d, 0, deposit, 0);
    pthread_create(&w, 0, withdraw, 0);
    return 0;
}
