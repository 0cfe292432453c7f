// poll and select only say that a descriptor is ready; the read that follows is the arc. Non-blocking descriptors, EAGAIN.
// expect: nothing
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

int fds[2];
long slots[200];

void *producer(void *arg) {
    for (int i = 0; i < 200; i++) {
        slots[i] = i;
        struct iovec parts[2] = {{&i, 2}, {(char *)&i + 2, 2}};
        if (writev(fds[1], parts, 2) != 4) abort();
    }
    return arg;
}

void *consumer(void *arg) {
    for (int n = 0; n < 200;) {
        if (n % 2) {
            struct pollfd p = {fds[0], POLLIN, 0};
            poll(&p, 1, 1000);
        } else {
            fd_set set;
            FD_ZERO(&set);
            FD_SET(fds[0], &set);
            select(fds[0] + 1, &set, 0, 0, 0);
        }
        int i;
        struct iovec whole = {&i, sizeof i};
        while (readv(fds[0], &whole, 1) == 4) {
            if (slots[i] != i) abort();
            slots[i] = -1;
            n++;
        }
    }
    return arg;
}

int main(void) {
    if (pipe(fds) != 0) return 1;
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
