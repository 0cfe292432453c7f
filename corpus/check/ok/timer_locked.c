// A timer and the program share data under a lock, and the timer is deleted before the end.
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ticks;

static void tick(union sigval v) {
    pthread_mutex_lock(&lock);
    ticks += *(int *)v.sival_ptr;
    pthread_mutex_unlock(&lock);
}

int main(void) {
    static int step = 2;
    struct sigevent event = { 0 };
    struct itimerspec when = { { 1, 0 }, { 1, 0 } };
    timer_t timer;
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = tick;
    event.sigev_value.sival_ptr = &step;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &when, NULL);
    for (int i = 0; i < 5; i++) {
        sleep(1);
        pthread_mutex_lock(&lock);
        ticks--;
        pthread_mutex_unlock(&lock);
    }
    timer_delete(timer);
    return 0;
}
