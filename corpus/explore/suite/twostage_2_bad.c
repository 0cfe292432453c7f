// expect: assertion
//@ bound: 1
// Two-stage access: each half of the invariant second == first + 1 has its own lock. 1 writers, one reader: 2 threads.
// Fails when: the first writer to run is preempted between its two critical sections; the reader runs through both of its own.
#include <assert.h>
#include <pthread.h>

enum { WRITERS = 1 };
int first, second;
pthread_mutex_t first_mu = PTHREAD_MUTEX_INITIALIZER, second_mu = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *arg) {
    pthread_mutex_lock(&first_mu);
    first = 1;
    pthread_mutex_unlock(&first_mu);
    pthread_mutex_lock(&second_mu);
    second = first + 1;
    pthread_mutex_unlock(&second_mu);
    return arg;
}

void *reader(void *arg) {
    pthread_mutex_lock(&first_mu);
    int x = first;
    pthread_mutex_unlock(&first_mu);
    if (x == 0) return arg;
    pthread_mutex_lock(&second_mu);
    int y = second;
    pthread_mutex_unlock(&second_mu);
    assert(y == x + 1);                                 // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t w[WRITERS], r;
    for (int i = 0; i < WRITERS; i++) pthread_create(&w[i], 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(w[i], 0);
    pthread_join(r, 0);
    return 0;
}
