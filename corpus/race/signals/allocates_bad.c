// Handlers that allocate and free: malloc, calloc, realloc, free; and setenv, which allocates within the C library, told of
// the handler.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_int handled;

void allocates(int signal) {
    (void)signal;
    char *volatile p = malloc(8);                       // expect: signal-unsafe-call #1
    p = realloc(p, 16);                                 // expect: signal-unsafe-call #2
    free(p);                                            // expect: signal-unsafe-call #3
    atomic_fetch_add(&handled, 1);
}

void more(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    char *volatile p = calloc(1, 8);                    // expect: signal-unsafe-call #4
    (void)p;
    atomic_fetch_add(&handled, 1);
}

void raised(int signal) {                               // expect: signal-unsafe-call #5
    (void)signal;
    char *volatile p = malloc(8);                       // expect: signal-unsafe-call #6
    (void)p;
    setenv("RADDLE_CORPUS", "text", 1);
}

void *work(void *arg) {
    while (atomic_load(&handled) < 2) usleep(100);
    return arg;
}

int main(void) {
    signal(SIGUSR1, allocates);
    signal(SIGWINCH, raised);
    struct sigaction act = {.sa_sigaction = more, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &act, 0);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_kill(t, SIGUSR1);
    pthread_kill(t, SIGUSR2);
    pthread_join(t, 0);
    raise(SIGWINCH);
    return 0;
}
