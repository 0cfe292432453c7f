// expect: livelock
//@ bound: 0
// Two polite threads: each takes its first lock, lets the other go on, tries the second, lets the other go on again when that is
// taken, gives its own back, and starts again.
// Fails when: they go on in step for ever: each tries while the other holds. Every switch is at a yield, so the schedule is fair.
#include <pthread.h>
#include <sched.h>

pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
    for (;;) {
        pthread_mutex_lock(one);                        // expect: livelock here
        sched_yield();                                  // expect: livelock here
        if (pthread_mutex_trylock(two) == 0) break;     // expect: livelock here
        sched_yield();                                  // expect: livelock here
        pthread_mutex_unlock(one);                      // expect: livelock here
    }
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
}

void *lefty(void *arg) {
    both(&left, &right);
    return arg;
}

void *righty(void *arg) {
    both(&right, &left);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, lefty, 0);
    pthread_create(&b, 0, righty, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
