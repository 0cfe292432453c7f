// expect: deadlock
// A wait without a loop around it: the signal may come between the look and the wait.
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

int is_ready(void) {
    pthread_mutex_lock(&m);
    int r = ready;
    pthread_mutex_unlock(&m);
    return r;
}

void *waiter(void *arg) {
    if (!is_ready()) {
        pthread_mutex_lock(&m);
        pthread_cond_wait(&changed, &m);
        pthread_mutex_unlock(&m);
    }
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
