// expect: nothing
//@ bound: 0
// The modes of `fopen` hold for a FIFO, and `creat` waits for its reader.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[64];

static void *writer(void *arg) {
    errno = 0;
    assert(!fopen(name, "wx") && errno == EEXIST);
    int fd = creat(name, 0600);
    assert(fd >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC));
    assert(write(fd, "x", 1) == 1);
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "raddle_fifo_modes_%d", getpid());
    unlink(name);
    assert(mkfifo(name, 0600) == 0);
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    FILE *stream = fopen(name, "re");
    assert(stream && fcntl(fileno(stream), F_GETFD) & FD_CLOEXEC);
    assert(fgetc(stream) == 'x');
    fclose(stream);
    pthread_join(thread, 0);
    unlink(name);
    return 0;
}
