//@ flags: -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
// With _FORTIFY_SOURCE, read, recv and poll into a buffer of known size become other functions of the C library; they order
// as the plain ones do.
// expect: nothing
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int data, pipe_ends[2], sockets[2];
volatile size_t one = 1; // not known to the compiler

void *writer(void *arg) {
    data = 1;
    if (write(pipe_ends[1], "x", 1) != 1) abort();
    char c[4];
    if (recv(sockets[0], c, one, 0) != 1) abort();
    data = 3;
    return arg;
}

void *reader(void *arg) {
    struct pollfd fds[2] = {{.fd = pipe_ends[0], .events = POLLIN}};
    char c[4];
    if (poll(fds, one, -1) != 1) abort();
    data++;
    if (read(pipe_ends[0], c, one) != 1) abort();
    data++;
    if (send(sockets[1], "x", 1, 0) != 1) abort();
    return arg;
}

int main(void) {
    if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) abort();
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
