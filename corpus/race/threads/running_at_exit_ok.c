// Threads that still run when main returns, and one that is detached, are nobody's mistake; one is joined by a handler of
// exit that was registered before there was any thread.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

pthread_t late;

void *forever(void *arg) {
    for (;;) pause();
    return arg;
}

void *brief(void *arg) { return arg; }

void join_late(void) { pthread_join(late, 0); }

int main(void) {
    atexit(join_late);
    pthread_t t;
    pthread_create(&t, 0, forever, 0);
    pthread_create(&t, 0, brief, 0);
    pthread_detach(t);
    pthread_create(&late, 0, brief, 0);
    usleep(20000);
    return 0;
}
