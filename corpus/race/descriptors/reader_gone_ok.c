// A thread closes the end that reads. The writer is told that nobody reads any more, and comes after.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WAYS = 4 };
int shared[WAYS];
static int way, ends[2];

static void *closes(void *arg) {
    usleep(2000);
    shared[way] = 1;
    close(ends[0]);
    return arg;
}

static long writes(void) {
    struct iovec piece = {"x", 1};
    switch (way) {
    case 0: return write(ends[1], "x", 1);
    case 1: return writev(ends[1], &piece, 1);
    case 2: return write(ends[1], "x", 1);
    default: return send(ends[1], "x", 1, 0);
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    for (way = 0; way < WAYS; way++) {
        pthread_t thread;
        if (way < 2 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
        pthread_create(&thread, 0, closes, 0);
        while (writes() == 1) usleep(500);
        if (errno != EPIPE) return 2;
        shared[way]++;
        pthread_join(thread, 0);
        close(ends[1]);
    }
    return 0;
}
