//@ pair 1: same-location often
// The _unlocked functions leave the stream's lock to the caller, who forgot it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "work.h"

static FILE *journal;

static void note(const char *text) {
    fputs_unlocked(text, journal);    // expect: thread-safety-violation write write #1
}

static void *writer(void *arg) {
    for (int i = 0; i < 200; i++) {
        work(*(unsigned *)arg);
        note("step\n");
    }
    return 0;
}

int main(void) {
    pthread_t other;
    unsigned one = 4, two = 4;
    journal = fopen("/dev/null", "w");
    pthread_create(&other, 0, writer, &one);
    writer(&two);
    pthread_join(other, 0);
    fclose(journal);
    return 0;
}
