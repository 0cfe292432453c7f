// pthread_tryjoin_np, pthread_timedjoin_np and pthread_clockjoin_np order like pthread_join when, and only when, they succeed.
// expect: nothing
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int results[3];

void *work(void *arg) {
    usleep(5000);
    *(int *)arg = 7;
    return arg;
}

static struct timespec in(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

int main(void) {
    for (int round = 0; round < 5; round++) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, &results[i]);
        while (pthread_tryjoin_np(t[0], 0) == EBUSY) usleep(500);
        struct timespec soon = in(CLOCK_REALTIME, 1), late;
        if (pthread_timedjoin_np(t[1], 0, &soon) != 0) {
            late = in(CLOCK_REALTIME, 5000);
            if (pthread_timedjoin_np(t[1], 0, &late) != 0) abort();
        }
        late = in(CLOCK_MONOTONIC, 5000);
        if (pthread_clockjoin_np(t[2], 0, CLOCK_MONOTONIC, &late) != 0) abort();
        for (int i = 0; i < 3; i++) {
            if (results[i] != 7) return 1;
            results[i] = 0;
        }
    }
    return 0;
}
