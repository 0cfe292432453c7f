// expect: deadlock
// A periodic timer goes on ringing, which helps nobody: both threads wait for the other's mutex.
// Fails when: each thread has taken its first mutex.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
atomic_int rings;

static void ring(union sigval value) {
    (void)value;
    atomic_fetch_add(&rings, 1);
}

void *other(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);                             // expect: deadlock here
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec when = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    timer_settime(timer, 0, &when, 0);
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);                             // expect: deadlock here
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
