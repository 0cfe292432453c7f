// expect: nothing
// Real-time signals are queued: three of one number arrive three times, each with its value, in order.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int handled;

static void handler(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    handled = handled * 10 + info->si_value.sival_int;
}

void *sender(void *arg) {
    for (int i = 1; i <= 3; i++) assert(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
    for (int i = 1; i <= 2; i++) assert(sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = i}) == 0);
    return arg;
}

int main(void) {
    sigset_t set, other;
    pthread_t t;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigemptyset(&other);
    sigaddset(&other, SIGRTMIN + 2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_sigmask(SIG_BLOCK, &other, 0);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN + 2, &action, 0);
    pthread_create(&t, 0, sender, 0);
    for (int i = 1; i <= 3; i++) {
        siginfo_t info;
        assert(sigwaitinfo(&set, &info) == SIGRTMIN + 1);
        assert(info.si_value.sival_int == i);
    }
    pthread_join(t, 0);
    pthread_sigmask(SIG_UNBLOCK, &other, 0);
    assert(handled == 12);
    return 0;
}
