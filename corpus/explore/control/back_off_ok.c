// expect: nothing
//@ bound: 1
//@ options: --max-steps 4000
// Each of two threads takes its first lock and gives it back when it does not get the other, as std::lock does. Only a schedule that
// keeps both in step for ever keeps them from their end, and the program does nothing to keep step.
#include <pthread.h>

pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
int count;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
    for (;;) {
        pthread_mutex_lock(one);
        if (pthread_mutex_trylock(two) == 0) break;
        pthread_mutex_unlock(one);
    }
    count++;
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
}

void *lefty(void *arg) {
    both(&left, &right);
    return arg;
}

void *righty(void *arg) {
    both(&right, &left);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, lefty, 0);
    pthread_create(&b, 0, righty, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
