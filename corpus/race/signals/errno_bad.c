// A handler calls close, which fails, and leaves its errno to whatever it interrupted.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int handled;

void handler(int signal) {                              // expect: signal-spoils-errno #1
    (void)signal;
    close(-1);
    atomic_store(&handled, 1);
}

void *work(void *arg) {
    while (!atomic_load(&handled)) usleep(100);
    return arg;
}

int main(void) {
    signal(SIGUSR1, handler);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, 0);
    return 0;
}
