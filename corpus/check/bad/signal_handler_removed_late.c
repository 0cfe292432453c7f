// What the handler looks at is taken down while the handler can still run.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *unfinished;

static void interrupted(int sig) {
    if (unfinished) // expect: data-race read #1
        remove(unfinished);
    exit(2);
}

int main(void) {
    unfinished = "output";
    signal(SIGINT, interrupted);
    usleep(1);
    unfinished = NULL; // expect: data-race write #1
    signal(SIGINT, SIG_DFL);
    return 0;
}
