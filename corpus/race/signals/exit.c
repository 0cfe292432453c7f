// A handler ends the process by exit, which runs the functions of atexit: what they free is not told of one by one.
// expect: nothing
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void *block;

void cleans_up(void) { free(block); }

void handler(int signal) {
    (void)signal;
    exit(0);
}

int main(void) {
    block = malloc(8);
    atexit(cleans_up);
    signal(SIGUSR1, handler);
    kill(getpid(), SIGUSR1);
    for (;;) pause();
}
