// What a handler shares is touched only while the signal is kept out.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int pending;
static int handled;

static void handler(int sig) {
    pending++;
    handled = pending;
}

int main(void) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGUSR1, handler);
    pending = 0;
    sigprocmask(SIG_SETMASK, &old, 0);
    for (int i = 0; i < 5; i++) {
        usleep(10);
        sigprocmask(SIG_BLOCK, &set, 0);
        if (pending)
            pending = 0;
        sigprocmask(SIG_UNBLOCK, &set, 0);
    }
    return 0;
}
