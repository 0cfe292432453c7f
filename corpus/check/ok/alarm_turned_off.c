// As the twin in bad/, but the alarm is turned off before the store.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path;

static void give_up(int signal) {
    if (path)
        exit(1);
}

int main(int argc, char **argv) {
    signal(SIGALRM, give_up);
    alarm(30);
    int input = getchar();
    alarm(0);
    path = argv[1];
    return input;
}
