// expect: nothing
// A token goes round: each thread waits for its turn.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4 };
int token[THREADS + 1];
int turn;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

void *member(void *arg) {
    int self = (intptr_t)arg;
    pthread_mutex_lock(&mu);
    while (turn != self) pthread_cond_wait(&moved, &mu);
    token[self + 1] = token[self] + 1;
    turn++;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    token[0] = 1;
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], 0, member, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(token[THREADS] == THREADS + 1);
    return 0;
}
