// expect: nothing
// Three threads take a lock ten times for nothing, and then increment in one critical section.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3, NOISE = 10 };
pthread_mutex_t noise_mu = PTHREAD_MUTEX_INITIALIZER, mu = PTHREAD_MUTEX_INITIALIZER;
int noise, counter;

void *worker(void *arg) {
    for (int i = 0; i < NOISE; i++) {
        pthread_mutex_lock(&noise_mu);
        noise++;
        pthread_mutex_unlock(&noise_mu);
    }
    pthread_mutex_lock(&mu);
    int seen = counter;
    counter = seen + 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(counter == THREADS);
    return 0;
}
