// The signal that is kept out is not the one whose handler shares the counter.
#include <signal.h>
#include <unistd.h>

static int pending;

static void handler(int sig) {
    pending++; // expect: data-race write #1, data-race read #1
}

int main(void) {
    sigset_t set;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    for (int i = 0; i < 5; i++) {
        usleep(10);
        sigprocmask(SIG_BLOCK, &set, 0);
        if (pending) // expect: data-race read #1
            pending = 0; // expect: data-race write #1
        sigprocmask(SIG_UNBLOCK, &set, 0);
    }
    return 0;
}
