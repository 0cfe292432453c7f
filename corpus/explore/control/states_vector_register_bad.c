// expect: assertion
// The same with a number in a vector register.
// Fails when: the keeper looks when the counter has counted to two.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
double x;

void *keeper(void *arg) {
    pthread_mutex_lock(&mu);
    double seen = x;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    x = 0;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    pthread_mutex_unlock(&mu);
    assert(seen != 2.0);
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
