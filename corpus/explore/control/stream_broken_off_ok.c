// expect: nothing
//@ bound: 1
// A handler without SA_RESTART breaks off the wait for a line, and cancellation ends the thread in it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static FILE *stream;
static atomic_int broken_off;

static void handler(int number) { (void)number; }

static void *interrupted(void *arg) {
    char line[8];
    assert(!fgets(line, sizeof line, stream) && errno == EINTR && ferror(stream));
    atomic_store(&broken_off, 1);
    return arg;
}

static void *cancelled(void *arg) {
    char *line = 0;
    size_t room = 0;
    getline(&line, &room, stream);
    assert(!"there is no line");
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    int ends[2];
    assert(pipe(ends) == 0);
    stream = fdopen(ends[0], "r");
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, interrupted, 0);
    while (!atomic_load(&broken_off)) {
        pthread_kill(thread, SIGUSR1);
        usleep(1000);
    }
    pthread_join(thread, 0);
    clearerr(stream);
    pthread_create(&thread, 0, cancelled, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    return 0;
}
