//@ pair 1: incidental-order often
// Requests read the environment that the reloader sets. Each counts itself in and out under a lock, for the statistics, which
// orders nearly every run by chance.
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long active, most;

static void count(int by) {
    pthread_mutex_lock(&lock);
    active += by;
    if (active > most) most = active;
    pthread_mutex_unlock(&lock);
}

static void *reloader(void *unused) {
    (void)unused;
    for (int i = 0; i < 240; i++) {
        work(4);
        count(1);
        setenv("RADDLE_LEVEL", i % 2 ? "1" : "2", 1);    // expect: thread-safety-violation write #1
        count(-1);
    }
    return 0;
}

int main(void) {
    setenv("RADDLE_LEVEL", "0", 1);
    pthread_t thread;
    pthread_create(&thread, 0, reloader, 0);
    int known = 0;
    for (int i = 0; i < 240; i++) {
        work(4);
        count(1);
        known += getenv("RADDLE_LEVEL") != 0;    // expect: thread-safety-violation read #1
        count(-1);
    }
    pthread_join(thread, 0);
    return known == 240 && active == 0 ? 0 : 1;
}
