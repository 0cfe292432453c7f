// expect: nothing
// Two threads write down the order of their rounds.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
unsigned order;

void *digit(void *arg) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mu);
        order = order * 10 + (unsigned)(long)arg;
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, digit, (void *)1);
    pthread_create(&b, 0, digit, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(order != 122122);
    return 0;
}
