// expect: nothing
// A wait without a loop around it, which nobody relies on for more than one wake-up: the lock is held from the look to the wait.
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

void *waiter(void *arg) {
    pthread_mutex_lock(&m);
    if (!ready)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

void *setter(void *arg) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
