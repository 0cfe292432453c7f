// End of file as a signal: close() of the write end happens before the read that returns 0, and shutdown() likewise.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int fds[2];
long data;

void *producer(void *arg) {
    data = 42;
    if (arg) shutdown(fds[1], SHUT_WR);
    else close(fds[1]);
    return 0;
}

void *consumer(void *arg) {
    char byte;
    if (read(fds[0], &byte, 1) != 0) abort();
    if (data != 42) abort();
    data = 43;
    return arg;
}

int main(void) {
    for (long i = 0; i < 40; i++) {
        if ((i % 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds)) != 0) return 1;
        data = 0;
        pthread_t a, b;
        pthread_create(&b, 0, consumer, 0);
        pthread_create(&a, 0, producer, (void *)(i % 2));
        pthread_join(a, 0);
        pthread_join(b, 0);
        close(fds[0]);
        if (i % 2) close(fds[1]);
    }
    return 0;
}
