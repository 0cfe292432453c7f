// What a handler shares is set up before it can run, and taken down when it no longer can.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *unfinished;

static void interrupted(int sig) {
    if (unfinished)
        remove(unfinished);
    exit(2);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc && i < 4; i++) {
        unfinished = argv[i];
        signal(SIGINT, interrupted);
        usleep(1);
        signal(SIGINT, SIG_DFL);
        unfinished = NULL;
    }
    return 0;
}
