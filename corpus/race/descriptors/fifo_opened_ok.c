// Who opens an end of a FIFO waits there for the other end: what each did before comes before what the other does afterwards.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int shared;
static char name[64];

static void *writer(void *arg) {
    shared = 1;
    int fd = open(name, O_WRONLY);
    close(fd);
    return arg;
}

static void *reader(void *arg) {
    int fd = open(name, O_RDONLY);
    shared++;
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_fifo_%d", getpid());
    if (mkfifo(name, 0600) != 0) return 1;
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
