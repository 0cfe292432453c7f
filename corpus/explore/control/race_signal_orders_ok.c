// expect: nothing
//@ monitors: race
// A handler comes after who sent its signal, also where it interrupts a wait, and where the signal was
// sent to the process.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int first, second;
static sem_t ready, handled;

static void sees_first(int n) {
    (void)n;
    if (first != 1) abort();
    sem_post(&handled);
}

static void sees_second(int n) {
    (void)n;
    if (second != 1) abort();
    sem_post(&handled);
}

static void *waits(void *arg) {
    sem_post(&ready);
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&handled)) {}
    }
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&handled, 0, 0);
    signal(SIGUSR1, sees_first);
    signal(SIGUSR2, sees_second);
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    sem_wait(&ready);
    first = 1;
    pthread_kill(t, SIGUSR1);
    second = 1;
    kill(getpid(), SIGUSR2);
    pthread_join(t, 0);
    return 0;
}
