// expect: assertion
//@ bound: 0
// An account: deposit and withdrawal are locked, but the check at the end is made before both are known to be through.
// Fails when: the checker runs before the depositor, or before the withdrawer.
#include <assert.h>
#include <pthread.h>

enum { BEFORE = 100, IN = 50, OUT = 30 };
int balance = BEFORE;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *depositor(void *arg) {
    pthread_mutex_lock(&mu);
    balance += IN;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *withdrawer(void *arg) {
    pthread_mutex_lock(&mu);
    balance -= OUT;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *checker(void *arg) {
    pthread_mutex_lock(&mu);
    assert(balance == BEFORE + IN - OUT);             // expect: assertion here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t d, w, c;
    pthread_create(&d, 0, depositor, 0);
    pthread_create(&w, 0, withdrawer, 0);
    pthread_create(&c, 0, checker, 0);
    pthread_join(d, 0);
    pthread_join(w, 0);
    pthread_join(c, 0);
    return 0;
}
