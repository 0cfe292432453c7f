// expect: assertion
//@ bound: 0
// A semaphore that is posted soon, waited for, for a second at most: the poster may be slower.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

sem_t sem;

void *poster(void *arg) {
    sem_post(&sem);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    sem_init(&sem, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_create(&t, 0, poster, 0);
    int status = sem_timedwait(&sem, &until);
    assert(status == 0);                                // expect: assertion here
    return pthread_join(t, 0);
}
