// expect: assertion
// A value is handed on as the argument of a new thread and as its result, and is never in memory.
// Fails when: the keeper looks when the counter has counted to two.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long x;

void *child(void *arg) {
    return arg;
}

void *keeper(void *arg) {
    pthread_t c;
    void *result;
    pthread_mutex_lock(&mu);
    long seen = x;
    pthread_mutex_unlock(&mu);
    pthread_create(&c, 0, child, (void *)seen);
    pthread_join(c, &result);
    assert((long)result != 2);
    return 0;
}

void *counter(void *arg) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mu);
        x++;
        pthread_mutex_unlock(&mu);
    }
    pthread_mutex_lock(&mu);
    x = 0;
    pthread_mutex_unlock(&mu);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, keeper, 0);
    pthread_create(&b, 0, counter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
