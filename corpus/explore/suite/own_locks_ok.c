// expect: nothing
// Four threads work under locks of their own and then add to a sum under one that they share. Steps
// under different locks have nothing to do with each other: 24 orders of the additions are all that
// there is to try.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 3 };
struct {
    pthread_mutex_t mu;
    int work;
} own[THREADS];
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int sum;

void *worker(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&own[me].mu);
        own[me].work++;
        pthread_mutex_unlock(&own[me].mu);
    }
    pthread_mutex_lock(&mu);
    sum += own[me].work;
    pthread_mutex_unlock(&mu);
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_mutex_init(&own[i].mu, 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(sum == THREADS * ROUNDS);
    return 0;
}
