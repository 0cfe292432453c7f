// expect: assertion
//@ bound: 0
// Three threads under one lock: one adds 1, one adds 2, one says that 3 is never reached.
// Fails when: the third comes last.
#include <assert.h>
#include <pthread.h>

int data;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *one(void *arg) {
    pthread_mutex_lock(&mu);
    data += 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *two(void *arg) {
    pthread_mutex_lock(&mu);
    data += 2;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *checker(void *arg) {
    pthread_mutex_lock(&mu);
    assert(data < 3);                                   // expect: assertion here
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&c, 0, checker, 0);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(c, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
