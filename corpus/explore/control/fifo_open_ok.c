// expect: nothing
// Both ends of a FIFO are opened by threads, which wait for each other in `open` and `fopen`.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[64];
int before;

static void *writer(void *arg) {
    before = 1;
    int fd = open(name, O_WRONLY);
    assert(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    return arg;
}

static void *reader(void *arg) {
    char got = 0;
    FILE *stream = fopen(name, "r");
    assert(stream && before == 1);
    assert(fread(&got, 1, 1, stream) == 1 && got == 'x');
    fclose(stream);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "raddle_fifo_open_%d", getpid());
    unlink(name);
    assert(mkfifo(name, 0600) == 0);
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
