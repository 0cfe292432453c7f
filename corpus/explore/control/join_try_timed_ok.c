// expect: nothing
// pthread_tryjoin_np says EBUSY or joins; pthread_timedjoin_np times out or joins; one of them joins in the end.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

atomic_int ended;

void *worker(void *arg) {
    atomic_store(&ended, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    int status = pthread_tryjoin_np(t, 0);
    assert(status == 0 || status == EBUSY);
    if (status == EBUSY) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        status = pthread_timedjoin_np(t, 0, &until);
        assert(status == 0 || status == ETIMEDOUT);
    }
    if (status == ETIMEDOUT) assert(pthread_join(t, 0) == 0);
    assert(atomic_load(&ended));
    return 0;
}
