// A race between two threads with three hundred short ones in between, each joined. The first has ended by then, but main
// joins it only at the end, so nothing orders it before the last. Its slot may not be taken for an ordered one. Every mode
// reports.
#include <pthread.h>
#include <unistd.h>

int shared;

void *early(void *arg) {
    shared = 1;                                         // expect: data-race write #1
    return arg;
}

void *idle(void *arg) { return arg; }

void *late(void *arg) {
    shared = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t first, last;
    pthread_create(&first, 0, early, 0);
    usleep(20000);
    for (int i = 0; i < 300; i++) {
        pthread_t t;
        pthread_create(&t, 0, idle, 0);
        pthread_join(t, 0);
    }
    pthread_create(&last, 0, late, 0);
    pthread_join(first, 0);
    pthread_join(last, 0);
    return 0;
}
