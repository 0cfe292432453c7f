// Handlers that leave errno as it was: one saves and restores it, one does not touch it, one jumps away. And SIGTERM's, which
// ThreadSanitizer does not judge either, and one that the thread calls by raise.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

atomic_int handled;
sigjmp_buf back;

void saves(int signal) {
    (void)signal;
    int before = errno;
    close(-1);
    errno = before;
    atomic_fetch_add(&handled, 1);
}

void counts(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    atomic_fetch_add(&handled, 1);
}

void spoils(int signal) {
    (void)signal;
    close(-1);
    atomic_fetch_add(&handled, 1);
}

void jumps(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

void *work(void *arg) {
    while (atomic_load(&handled) < 3) usleep(100);
    return arg;
}

int main(void) {
    struct sigaction act = {.sa_sigaction = counts, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &act, 0);
    signal(SIGUSR1, saves);
    signal(SIGTERM, spoils);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_kill(t, SIGUSR1);
    pthread_kill(t, SIGUSR2);
    pthread_kill(t, SIGTERM);
    pthread_join(t, 0);

    signal(SIGALRM, spoils);
    raise(SIGALRM);
    signal(SIGALRM, jumps);
    errno = 7;
    if (!sigsetjmp(back, 1)) {
        ualarm(1000, 0);
        for (;;) pause();
    }
    // Out of the handler: this is no unsafe call, and errno is none of raddle's making.
    free(malloc(1));
    if (errno != 7) abort();
    return 0;
}
