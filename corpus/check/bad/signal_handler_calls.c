// A handler calls what is not made for handlers: a finding for each object that the call touches.
#include <signal.h>
#include <unistd.h>

static int length, last, total;

static void note(int c) {
    last = c; // expect: data-race #1
    length++; // expect: data-race #2
    total += c; // expect: data-race #3
}

static void interrupted(int sig) {
    note(sig);
}

int main(void) {
    signal(SIGINT, interrupted);
    for (int i = 0; i < 3; i++) {
        note(i);
        usleep(1);
    }
    return total + last; // expect: data-race #1, data-race #3
}
