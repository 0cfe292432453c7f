// expect: nothing
// A writer waits for a reader, and goes on when one comes that does not wait, even if it is gone again.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[64];

static void *writer(void *arg) {
    int fd = open(name, O_WRONLY);
    assert(fd >= 0);
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "raddle_reader_comes_%d", getpid());
    unlink(name);
    assert(mkfifo(name, 0600) == 0);
    assert(open(name, O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO);
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    char byte;
    // Reading finds the end of the data if there is no writer, not even one that waits.
    int came = read(fd, &byte, 1) == -1;
    assert(!came || errno == EAGAIN);
    if (came) close(fd);
    pthread_join(thread, 0);
    if (!came) close(fd);
    unlink(name);
    return 0;
}
