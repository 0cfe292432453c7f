// A handler that only sets a flag of the right type.
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static atomic_int hits;

static void on_signal(int s) {
    stop = 1;
    hits++;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    while (!stop)
        pause();
    return hits;
}
