// Synchronisation through a descriptor: a write to a pipe, socket pair or eventfd happens before the read that gets it. An
// object is passed to and fro by nothing else. SIGNAL and WAIT in every mode: silent.
// expect: nothing
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAYS = 3, ROUNDS = 200 };
struct channel { int there[2], back[2]; long object; } channels[WAYS];

static void tell(int fd, int way) {
    uint64_t token = 1;
    ssize_t n = way == 1 ? send(fd, &token, 8, 0) : write(fd, &token, 8);
    if (n != 8) abort();
}

static void hear(int fd, int way) {
    uint64_t token;
    ssize_t n = way == 1 ? recv(fd, &token, 8, 0) : read(fd, &token, 8);
    if (n != 8) abort();
}

void *far(void *arg) {
    long way = (long)arg;
    struct channel *c = &channels[way];
    for (int i = 0; i < ROUNDS; i++) {
        hear(c->there[0], way);
        c->object++;
        tell(c->back[1], way);
    }
    return 0;
}

static void open_pair(int way, int end[2]) {
    int status = -1;
    if (way == 0) status = pipe(end);
    if (way == 1) status = socketpair(AF_UNIX, SOCK_STREAM, 0, end);
    if (way == 2) status = end[0] = end[1] = eventfd(0, 0);
    if (status < 0) abort();
}

int main(void) {
    pthread_t t[WAYS];
    for (long w = 0; w < WAYS; w++) {
        open_pair(w, channels[w].there);
        open_pair(w, channels[w].back);
        pthread_create(&t[w], 0, far, (void *)w);
    }
    for (int i = 0; i < ROUNDS; i++)
        for (int w = 0; w < WAYS; w++) {
            channels[w].object++;
            tell(channels[w].there[1], w);
            hear(channels[w].back[0], w);
        }
    for (int w = 0; w < WAYS; w++) {
        pthread_join(t[w], 0);
        if (channels[w].object != 2 * ROUNDS) return 1;
    }
    return 0;
}
