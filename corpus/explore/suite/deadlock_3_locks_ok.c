// expect: nothing
// Three threads, three locks, always taken in the same order.
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(two);
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
}

void *first(void *arg) {
    both(&a, &b);
    return arg;
}

void *second(void *arg) {
    both(&b, &c);
    return arg;
}

void *third(void *arg) {
    both(&a, &c);
    return arg;
}

int main(void) {
    pthread_t x, y, z;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_create(&z, 0, third, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    pthread_join(z, 0);
    return 0;
}
