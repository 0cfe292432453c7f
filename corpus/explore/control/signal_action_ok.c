// expect: nothing
// What a signal does is asked for by one thread after the other has changed it.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static void *ignores(void *arg) {
    signal(SIGUSR1, SIG_IGN);
    return arg;
}

static void *asks(void *arg) {
    struct sigaction before, after;
    sigaction(SIGUSR1, 0, &before);
    sigaction(SIGUSR1, 0, &after);
    assert(before.sa_handler == after.sa_handler);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, ignores, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, asks, 0);
    pthread_join(b, 0);
    return 0;
}
