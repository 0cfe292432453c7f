// expect: nothing
// A one-shot timer that its own callback arms again, three times; one due long after never comes between.
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

sem_t done;
timer_t timer;
int rings;

static void arm(void) {
    struct itimerspec when = {.it_value.tv_nsec = 1000000};
    assert(timer_settime(timer, 0, &when, 0) == 0);
}

static void ring(union sigval value) {
    (void)value;
    if (++rings == 3) sem_post(&done);
    else arm();
}

static void never(union sigval value) {
    assert(value.sival_int == 0);
}

int main(void) {
    sem_init(&done, 0, 0);
    timer_t late;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    struct sigevent far = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = never, .sigev_value.sival_int = 1};
    assert(timer_create(CLOCK_MONOTONIC, &far, &late) == 0);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec hour = {.it_value.tv_sec = 3600};
    assert(timer_settime(late, 0, &hour, 0) == 0);
    arm();
    while (sem_wait(&done) != 0) {}
    assert(rings == 3);
    return 0;
}
