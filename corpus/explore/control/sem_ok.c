// expect: nothing
// A semaphore of two places for three threads; sem_trywait, sem_timedwait and sem_getvalue beside it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

enum { PLACES = 2 };
sem_t places;
atomic_int inside;

static void stay(void) {
    assert(atomic_fetch_add(&inside, 1) < PLACES);
    atomic_fetch_sub(&inside, 1);
    sem_post(&places);
}

void *waits(void *arg) {
    assert(sem_wait(&places) == 0);
    stay();
    return arg;
}

void *tries(void *arg) {
    if (sem_trywait(&places) == 0) stay();
    else assert(errno == EAGAIN);
    return arg;
}

void *timed(void *arg) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    if (sem_timedwait(&places, &until) == 0) stay();
    else assert(errno == ETIMEDOUT);
    return arg;
}

int main(void) {
    sem_init(&places, 0, PLACES);
    pthread_t a, b, c;
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, tries, 0);
    pthread_create(&c, 0, timed, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int value;
    assert(sem_getvalue(&places, &value) == 0 && value == PLACES);
    return 0;
}
