// expect: nothing
// A periodic timer with a thread callback, cancelled after some rounds: it may ring once more while it is cancelled, not for ever.
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

sem_t rung;
atomic_int rings;

static void ring(union sigval value) {
    (void)value;
    atomic_fetch_add(&rings, 1);
    sem_post(&rung);
}

int main(void) {
    sem_init(&rung, 0, 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec when = {.it_value.tv_nsec = 2000000, .it_interval.tv_nsec = 2000000};
    assert(timer_settime(timer, 0, &when, 0) == 0);
    for (int i = 0; i < 3; i++)
        while (sem_wait(&rung) != 0) {}
    struct itimerspec none = {0};
    assert(timer_settime(timer, 0, &none, 0) == 0);
    assert(timer_delete(timer) == 0);
    assert(atomic_load(&rings) >= 3);
    return 0;
}
