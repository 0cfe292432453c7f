// A pointer goes through a pipe and the sender keeps writing to what it points to. The pipe orders what came before the
// write(2), not what comes after. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int fds[2];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
struct message { long id; long body; };
struct message message;

void *sender(void *arg) {
    struct message *m = &message;
    m->id = 1;
    if (write(fds[1], &m, sizeof m) != sizeof m) abort();
    m->body = 2;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *receiver(void *arg) {
    struct message *m;
    if (read(fds[0], &m, sizeof m) != sizeof m) abort();
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + m->id + m->body;               // expect: data-race read #1
}

int main(void) {
    if (pipe(fds) != 0) return 1;
    message.id = message.body = 0;
    pthread_t a, b;
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, receiver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
