// The race is on one side of a branch on input.
#include <pthread.h>
#include <stdio.h>

static int debug;

static void *worker(void *arg) {
    if (getchar() == 'd')
        debug = 1; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    if (debug) // expect: data-race read #1
        puts("debugging");
    pthread_join(t, NULL);
    return 0;
}
