//@ pair 1: once once
// Each thread stamps its log once, when it starts.
#include <pthread.h>
#include <time.h>
#include "work.h"

static void *stamped(void *arg) {
    time_t start = 86400;
    work(60);
    struct tm *t = gmtime(&start);    // expect: thread-safety-violation write #1
    *(int *)arg = t->tm_mday;
    work(600);
    return 0;
}

int main(void) {
    pthread_t other;
    int day = 0;
    time_t start = 86400 * 2;
    pthread_create(&other, 0, stamped, &day);
    work(30);
    struct tm *t = gmtime(&start);    // expect: thread-safety-violation write #1
    int own = t->tm_mday;
    work(630);
    pthread_join(other, 0);
    return day + own > 0 ? 0 : 1;
}
