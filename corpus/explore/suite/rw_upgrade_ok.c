// expect: nothing
// The upgrade is refused when another one is under way; the loser leaves and comes again as a writer.
#include <pthread.h>

int readers, upgrading, value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t left = PTHREAD_COND_INITIALIZER;

void *updater(void *arg) {
    pthread_mutex_lock(&mu);
    readers++;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu); // upgrade
    if (upgrading) {
        readers--;
        pthread_cond_broadcast(&left);
        while (upgrading || readers) pthread_cond_wait(&left, &mu);
        value++;
    } else {
        upgrading = 1;
        while (readers > 1) pthread_cond_wait(&left, &mu);
        value++;
        readers--;
        upgrading = 0;
    }
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, updater, 0);
    pthread_create(&b, 0, updater, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return value != 2;
}
