// expect: nothing
// Question and answer over a socketpair, with send, recv, sendmsg and shutdown.
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int ends[2];

void *server(void *arg) {
    char number;
    while (recv(ends[1], &number, 1, 0) == 1) {
        number *= 2;
        struct iovec part = {&number, 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        assert(sendmsg(ends[1], &message, 0) == 1);
    }
    return arg;
}

int main(void) {
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_t t;
    pthread_create(&t, 0, server, 0);
    for (char i = 1; i <= 2; i++) {
        char answer = 0;
        assert(send(ends[0], &i, 1, 0) == 1);
        assert(recv(ends[0], &answer, 1, 0) == 1 && answer == 2 * i);
    }
    shutdown(ends[0], SHUT_WR);
    pthread_join(t, 0);
    return 0;
}
