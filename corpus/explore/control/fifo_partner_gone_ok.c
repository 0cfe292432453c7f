// expect: nothing
// Who opens an end of a FIFO goes on even if the other end is closed again before it runs.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[64];
static int shared;

static void *writer(void *arg) {
    int fd = open(name, O_WRONLY);
    assert(fd >= 0);
    shared = 1;
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "raddle_partner_gone_%d", getpid());
    unlink(name);
    assert(mkfifo(name, 0600) == 0);
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int fd = open(name, O_RDONLY);
    assert(fd >= 0);
    shared++;
    close(fd);
    pthread_join(thread, 0);
    unlink(name);
    return 0;
}
