// expect: nothing
//@ bound: 0
// A handler breaks off the wait for the other end of a FIFO, and cancellation ends the thread in it. Either closes the end.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[64];
static atomic_int broken_off;

static void handler(int number) { (void)number; }

static void *cancelled(void *arg) {
    open(name, O_WRONLY);
    assert(!"there is no reader");
    return arg;
}

static void *interrupted(void *arg) {
    assert(open(name, O_RDONLY) == -1 && errno == EINTR);
    atomic_store(&broken_off, 1);
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    snprintf(name, sizeof name, "raddle_fifo_broken_off_%d", getpid());
    unlink(name);
    assert(mkfifo(name, 0600) == 0);
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, cancelled, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_create(&thread, 0, interrupted, 0);
    while (!atomic_load(&broken_off)) {
        pthread_kill(thread, SIGUSR1);
        usleep(1000);
    }
    pthread_join(thread, 0);
    assert(open(name, O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO);
    unlink(name);
    return 0;
}
