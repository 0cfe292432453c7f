// A handler calls what is not made for handlers: one finding for the call, not one for each object.
#include <signal.h>
#include <unistd.h>

static int length, last, total;
static char text[16];

static void note(int c) {
    text[length % 16] = (char)c; // expect: data-race #1
    last = c; // expect: data-race #1
    length++; // expect: data-race #1
    total += c; // expect: data-race #1
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
    return total + last; // expect: data-race #1
}
