// A handler of alarms interrupts the code between the call that sets the alarm and the one that
// turns it off.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path;

static void give_up(int signal) {
    if (path) // expect: data-race #1
        exit(1);
}

int main(int argc, char **argv) {
    signal(SIGALRM, give_up);
    alarm(30);
    int input = getchar();
    path = argv[1]; // expect: data-race #1
    alarm(0);
    return input;
}
