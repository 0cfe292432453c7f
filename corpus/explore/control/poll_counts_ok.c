// expect: nothing
// A thread polls under a lock and gives up after nine looks. It counts, so each lap is progress: to go round is no waiting.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int ready;

void *looks(void *arg) {
    int seen = 0;
    for (int i = 0; i < 9 && !seen; i++) {
        pthread_mutex_lock(&mu);
        seen = ready;
        pthread_mutex_unlock(&mu);
    }
    (void)seen;
    return arg;
}

void *sets(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, looks, 0);
    pthread_create(&b, 0, sets, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
