// The same order everywhere. Silent in every mode, under contention.
// expect: nothing
#include <pthread.h>

pthread_mutex_t a_mu = PTHREAD_MUTEX_INITIALIZER, b_mu = PTHREAD_MUTEX_INITIALIZER;
long count;

static void both(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&a_mu);
        pthread_mutex_lock(&b_mu);
        count++;
        pthread_mutex_unlock(&a_mu); // the order of release does not matter
        pthread_mutex_unlock(&b_mu);
    }
}

void *first(void *arg) {
    both();
    return arg;
}

void *second(void *arg) {
    both();
    return arg;
}

int main(void) {
    count = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
