// expect: nothing
// A handler without SA_RESTART breaks off sem_wait, read and nanosleep, which say EINTR; sigtimedwait gives up by its time.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

sem_t never;
int nothing[2];

static void ring(int number) {
    (void)number;
}

void *takes(void *arg) {
    assert(sem_wait(&never) == -1 && errno == EINTR);
    return arg;
}

void *reads(void *arg) {
    char c;
    assert(read(nothing[0], &c, 1) == -1 && errno == EINTR);
    return arg;
}

static void interrupts(void *(*body)(void *)) {
    pthread_t t;
    pthread_create(&t, 0, body, 0);
    for (;;) { // one may come before the thread waits
        pthread_kill(t, SIGUSR1);
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        now.tv_sec += 1;
        if (pthread_timedjoin_np(t, 0, &now) == 0) break;
    }
}

int main(void) {
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&never, 0, 0);
    assert(pipe(nothing) == 0);
    interrupts(takes);
    interrupts(reads);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    struct timespec second = {.tv_sec = 1};
    assert(sigtimedwait(&set, 0, &second) == -1 && errno == EAGAIN);
    raise(SIGUSR2);
    siginfo_t info;
    assert(sigtimedwait(&set, &info, &second) == SIGUSR2 && info.si_signo == SIGUSR2);
    return 0;
}
