// expect: nothing
// Both threads guard the value with the same lock.
#include <assert.h>
#include <pthread.h>

int value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&mu);
    int before = value;
    value++;
    assert(value == before + 1);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
