// expect: assertion
//@ bound: 0
// A token goes round: each thread adds one to what its neighbour holds; nothing orders them.
// Fails when: a thread runs before its neighbour has the token.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4 };
int token[THREADS + 1];
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *member(void *arg) {
    int self = (intptr_t)arg;
    pthread_mutex_lock(&mu);
    token[self + 1] = token[self] + 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    token[0] = 1;
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], 0, member, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(token[THREADS] == THREADS + 1);                 // expect: assertion here
    return 0;
}
