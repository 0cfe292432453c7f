// expect: nothing
// Every kind of sleep; the clocks move by at least what was slept, and main does not depend on who wakes up first.
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static long since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

void *naps(void *arg) {
    struct timespec start, span = {.tv_nsec = 10000000};
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert(nanosleep(&span, 0) == 0);
    assert(since(&start) >= 10);
    return arg;
}

void *dozes(void *arg) {
    struct timespec start, until;
    clock_gettime(CLOCK_MONOTONIC, &start);
    usleep(5000);
    assert(since(&start) >= 5);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 5000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == 0);
    assert(since(&start) >= 10);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, naps, 0);
    pthread_create(&b, 0, dozes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
