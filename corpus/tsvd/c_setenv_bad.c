//@ pair 1: unlocked-read often
// One thread changes the environment while another reads it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "work.h"

static void *changer(void *arg) {
    (void)arg;
    for (int i = 0; i < 160; i++) {
        work(6);
        setenv("STAGE", i % 2 ? "odd" : "two", 1);    // expect: thread-safety-violation write #1
    }
    return 0;
}

int main(void) {
    pthread_t changing;
    unsigned long letters = 0;
    setenv("STAGE", "one", 1);
    pthread_create(&changing, 0, changer, 0);
    for (int i = 0; i < 280; i++) {
        work(3);
        letters += strlen(getenv("HOME") ? "home" : "none");    // expect: thread-safety-violation read #1
    }
    pthread_join(changing, 0);
    return letters == 1120 ? 0 : 1;
}
