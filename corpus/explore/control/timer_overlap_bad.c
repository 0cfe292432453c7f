// expect: assertion
//@ bound: 2
// A periodic callback is taken to be alone: it counts what is done without a lock.
// Fails when: the timer rings again while the callback of the ring before is between its load and its store.
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

sem_t rung;
atomic_int inside;

static void ring(union sigval value) {
    (void)value;
    assert(atomic_fetch_add(&inside, 1) == 0);          // expect: assertion here
    atomic_fetch_sub(&inside, 1);
    sem_post(&rung);
}

int main(void) {
    sem_init(&rung, 0, 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec when = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    timer_settime(timer, 0, &when, 0);
    sem_wait(&rung);
    sem_wait(&rung);
    timer_delete(timer);
    return 0;
}
