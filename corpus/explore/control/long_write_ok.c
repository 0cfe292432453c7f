// expect: nothing
// One write of more than a pipe holds, and one of more than a socket does, while another thread reads.
// `long_write_bad.c` is the twin.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char text[70000];
static int ends[2], sockets[2];

static void *writes(void *arg) {
    if (write(ends[1], text, sizeof text) != sizeof text) abort();
    if (send(sockets[1], text, sizeof text, 0) != sizeof text) abort();
    if (write(sockets[1], text, sizeof text) != sizeof text) abort();
    return arg;
}

static void reads(int fd, int n) {
    static char got[sizeof text];
    while (n > 0) {
        int part = read(fd, got, sizeof got);
        if (part <= 0) abort();
        n -= part;
    }
}

int main(void) {
    int size = 4096;
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 1;
    if (setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size)) return 1;
    pthread_t t;
    pthread_create(&t, 0, writes, 0);
    reads(ends[0], sizeof text);
    reads(sockets[0], 2 * sizeof text);
    pthread_join(t, 0);
    return 0;
}
