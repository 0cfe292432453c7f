// setitimer: the handler and the main loop share a plain structure.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static struct { int seconds; int lost; } clock_state;

static void tick(int s) {
    clock_state.seconds++; // expect: data-race write #1, data-race read #1
}

int main(void) {
    struct itimerval every = { { 1, 0 }, { 1, 0 } };
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    while (clock_state.seconds < 3) // expect: data-race read #1
        pause();
    return 0;
}
