// expect: assertion
//@ bound: 1
// trylock whose answer is not looked at.
// Fails when: it says EBUSY: the thread is in the section with the owner.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int inside;

void *polite(void *arg) {
    pthread_mutex_lock(&mu);
    assert(atomic_fetch_add(&inside, 1) == 0);          // expect: assertion here
    atomic_fetch_sub(&inside, 1);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *careless(void *arg) {
    int got = pthread_mutex_trylock(&mu) == 0;
    assert(atomic_fetch_add(&inside, 1) == 0);          // expect: assertion here
    atomic_fetch_sub(&inside, 1);
    if (got) pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, polite, 0);
    pthread_create(&b, 0, careless, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
