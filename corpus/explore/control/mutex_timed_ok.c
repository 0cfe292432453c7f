// expect: nothing
// timedlock gets the mutex or times out; both are choices, and the program is right either way.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *holder(void *arg) {
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_create(&t, 0, holder, 0);
    int status = pthread_mutex_timedlock(&mu, &until);
    assert(status == 0 || status == ETIMEDOUT);
    if (status == 0) {
        counter++;
        pthread_mutex_unlock(&mu);
    }
    pthread_join(t, 0);
    assert(counter == (status == 0 ? 2 : 1));
    return 0;
}
