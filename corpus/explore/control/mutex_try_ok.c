// expect: nothing
// trylock succeeds or says EBUSY, according to the schedule; the counters add up in every case.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

enum { THREADS = 3 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int got, missed[THREADS];

void *worker(void *arg) {
    int *mine = arg;
    int status = pthread_mutex_trylock(&mu);
    if (status == 0) {
        got++;
        pthread_mutex_unlock(&mu);
    } else {
        assert(status == EBUSY);
        ++*mine;
    }
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, worker, &missed[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    int all = got;
    for (int i = 0; i < THREADS; i++) all += missed[i];
    assert(got >= 1 && all == THREADS);
    return 0;
}
