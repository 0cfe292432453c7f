// expect: nothing
// A one-shot timer_create with SIGEV_THREAD: its callback is a task of its own, in a thread of its own.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

sem_t rung;
pthread_t main_thread;

static void ring(union sigval value) {
    assert(value.sival_int == 7);
    assert(!pthread_equal(pthread_self(), main_thread));
    sem_post(&rung);
}

int main(void) {
    sem_init(&rung, 0, 0);
    main_thread = pthread_self();
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring, .sigev_value.sival_int = 7};
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec when = {.it_value.tv_nsec = 5000000};
    assert(timer_settime(timer, 0, &when, 0) == 0);
    while (sem_wait(&rung) != 0) {}
    assert(timer_delete(timer) == 0);
    return 0;
}
