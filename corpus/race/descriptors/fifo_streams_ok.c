// The ends of a FIFO wait for each other in fopen and openat too, by whatever name.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int before_write, before_read;
static char name[64], other[64];

static void *writer(void *arg) {
    before_write = 1;
    FILE *stream = fopen(name, "w");
    before_read++;
    fclose(stream);
    return arg;
}

static void *reader(void *arg) {
    before_read = 1;
    int fd = openat(AT_FDCWD, other, O_RDONLY);
    before_write++;
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_streams_%d", getpid());
    snprintf(other, sizeof other, "/tmp/../tmp/raddle_streams_%d", getpid());
    if (mkfifo(name, 0600) != 0) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
