// expect: nothing
//@ monitors: race
// Blocks are handed on through a pipe, a socket pair and an eventfd, and given back by whoever got them; the end of a pipe says that a
// result is there. What is written into one end happened before what is done by the reader of the other.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int piped[2], sockets[2], event, result, polled;

static void *consumer(void *arg) {
    int *block;
    assert(read(piped[0], &block, sizeof block) == sizeof block);
    *block += 1;
    free(block);
    assert(recv(sockets[0], &block, sizeof block, MSG_WAITALL) == sizeof block);
    *block += 1;
    free(block);
    struct pollfd ready = {.fd = event, .events = POLLIN};
    assert(poll(&ready, 1, -1) == 1);
    assert(polled == 3);
    result = 4;
    close(sockets[0]);
    return arg;
}

int main(void) {
    assert(pipe(piped) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    event = eventfd(0, 0);
    pthread_t t;
    pthread_create(&t, 0, consumer, 0);
    int *block = malloc(sizeof *block);
    *block = 1;
    assert(write(piped[1], &block, sizeof block) == sizeof block);
    block = malloc(sizeof *block);
    *block = 2;
    assert(send(sockets[1], &block, sizeof block, 0) == sizeof block);
    polled = 3;
    assert(eventfd_write(event, 1) == 0);
    char end;
    assert(read(sockets[1], &end, 1) == 0);
    assert(result == 4);
    pthread_join(t, 0);
    return 0;
}
