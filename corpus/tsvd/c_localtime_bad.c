//@ pair 1: unlocked-read often
// localtime returns a pointer to one static struct, which the other thread's call overwrites.
#include <pthread.h>
#include <time.h>
#include "work.h"

static void *logger(void *arg) {
    for (int i = 0; i < 240; i++) {
        time_t now = 1000000 + i;
        work(4);
        struct tm *t = localtime(&now);    // expect: thread-safety-violation write #1
        *(long *)arg += t->tm_sec;
    }
    return 0;
}

int main(void) {
    pthread_t logging;
    long logged = 0, seen = 0;
    pthread_create(&logging, 0, logger, &logged);
    for (int i = 0; i < 240; i++) {
        time_t then = 5000000 + 3600 * i;
        work(4);
        struct tm *t = localtime(&then);    // expect: thread-safety-violation write #1
        seen += t->tm_hour;
    }
    pthread_join(logging, 0);
    return logged + seen >= 0 ? 0 : 1;
}
