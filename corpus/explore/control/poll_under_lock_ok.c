// expect: nothing
// A thread polls a flag under a lock, without a yield: it comes back to the same state each time, and so waits for the other.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int ready;

void *waits(void *arg) {
    for (;;) {
        pthread_mutex_lock(&mu);
        if (ready) break;
        pthread_mutex_unlock(&mu);
    }
    pthread_mutex_unlock(&mu);
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
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, sets, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
