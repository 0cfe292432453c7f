// expect: assertion
//@ bound: 1
// One thread guards the value with its lock, 1 with another one.
// Fails when: either side reads the value; the other adds to it; the first writes back and finds another sum than its own.
#include <assert.h>
#include <pthread.h>

enum { WRONG = 1 };
volatile int value; // so that the compiler reads it again for the assertion
pthread_mutex_t right_mu = PTHREAD_MUTEX_INITIALIZER, wrong_mu = PTHREAD_MUTEX_INITIALIZER;

static void add(pthread_mutex_t *mu) {
    pthread_mutex_lock(mu);
    int before = value;
    value = before + 1;
    assert(value == before + 1);      // expect: assertion here
    pthread_mutex_unlock(mu);
}

void *right(void *arg) {
    add(&right_mu);
    return arg;
}

void *wrong(void *arg) {
    add(&wrong_mu);
    return arg;
}

int main(void) {
    pthread_t r, w[WRONG];
    pthread_create(&r, 0, right, 0);
    for (int i = 0; i < WRONG; i++) pthread_create(&w[i], 0, wrong, 0);
    pthread_join(r, 0);
    for (int i = 0; i < WRONG; i++) pthread_join(w[i], 0);
    return 0;
}
