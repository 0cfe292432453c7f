// expect: nothing
// The flag is looked at under the lock, in a loop.
#include <pthread.h>

int ready;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    while (!ready) pthread_cond_wait(&changed, &mu);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *setter(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t w, s;
    pthread_create(&w, 0, waiter, 0);
    pthread_create(&s, 0, setter, 0);
    pthread_join(w, 0);
    pthread_join(s, 0);
    return 0;
}
