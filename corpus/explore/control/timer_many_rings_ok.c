// expect: nothing
// Main waits until a periodic timer has rung thirty times; the timer stays armed when the process ends.
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

enum { ENOUGH = 30 };
sem_t enough;
int rings; // callbacks of one timer are ordered by the semaphore below

sem_t one;

static void ring(union sigval value) {
    (void)value;
    while (sem_wait(&one) != 0) {}
    if (++rings == ENOUGH) sem_post(&enough);
    sem_post(&one);
}

int main(void) {
    sem_init(&enough, 0, 0);
    sem_init(&one, 0, 1);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec when = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    assert(timer_settime(timer, 0, &when, 0) == 0);
    while (sem_wait(&enough) != 0) {}
    return 0;
}
