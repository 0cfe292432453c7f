//@ pair 1: long-gap rare
// The environment is read at the beginning of a job and changed at its end, by another thread.
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static void *changer(void *arg) {
    for (int job = 0; job < 4; job++) {
        work(*(unsigned *)arg);
        setenv("JOB", "two", 1);    // expect: thread-safety-violation write #1
        work(240 - *(unsigned *)arg);
    }
    return 0;
}

int main(void) {
    pthread_t changing;
    unsigned gap = rarely() ? 30 : 150;
    int jobs = 0;
    setenv("JOB", "one", 1);
    pthread_create(&changing, 0, changer, &gap);
    for (int job = 0; job < 4; job++) {
        work(12);
        jobs += getenv("PATH") ? 1 : 2;    // expect: thread-safety-violation read #1
        work(228);
    }
    pthread_join(changing, 0);
    return jobs >= 4 ? 0 : 1;
}
