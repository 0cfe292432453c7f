// ENABLE_RACE_DETECTION(0): what is met until it is on again is not reported, in any thread.
#include <pthread.h>
#include "raddle/annotations.h"

int quiet, loud;

void *on_quiet(void *arg) {
    quiet++;
    return arg;
}

void *on_loud(void *arg) {
    loud++;                                             // expect: data-race write write #1 | read write #1
    return arg;
}

static void both(void *(*f)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, f, 0);
    pthread_create(&b, 0, f, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

int main(void) {
    quiet = loud = 0;
    ANNOTATE_ENABLE_RACE_DETECTION(0);
    both(on_quiet);
    ANNOTATE_ENABLE_RACE_DETECTION(1);
    both(on_loud);
    return 0;
}
