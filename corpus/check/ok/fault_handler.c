// A handler of faults runs where the fault is, not in the middle of an assignment.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *stage;

static void crashed(int sig) {
    if (stage)
        write(2, stage, 1);
    _exit(1);
}

int main(void) {
    signal(SIGSEGV, crashed);
    signal(SIGABRT, crashed);
    stage = "reading";
    usleep(1);
    stage = "writing";
    return 0;
}
