// expect: nothing
// Three writers and a checker, with the pair under one lock.
#include <assert.h>
#include <pthread.h>

enum { WRITERS = 3 };
int a, b;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *arg) {
    pthread_mutex_lock(&mu);
    a = 1;
    b = -1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *checker(void *arg) {
    pthread_mutex_lock(&mu);
    int x = a, y = b;
    pthread_mutex_unlock(&mu);
    assert((x == 0 && y == 0) || (x == 1 && y == -1));
    return arg;
}

int main(void) {
    pthread_t w[WRITERS], c;
    for (int i = 0; i < WRITERS; i++) pthread_create(&w[i], 0, writer, 0);
    pthread_create(&c, 0, checker, 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(w[i], 0);
    pthread_join(c, 0);
    return 0;
}
