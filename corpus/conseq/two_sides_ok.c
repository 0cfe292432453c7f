// expect: nothing
// The twin of two_sides_bad.c: each side is done with the channel before it says so, and who finds
// that the other side is done frees it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct channel {
    atomic_int gone;
    int sent, received;
} *channel;

void leave(struct channel *c) {
    if (atomic_exchange(&c->gone, 1)) free(c);
}

void *sender(void *arg) {
    struct channel *c = channel;
    c->sent++;
    leave(c);
    return arg;
}

void *receiver(void *arg) {
    struct channel *c = channel;
    c->received++;
    leave(c);
    return arg;
}

int main(void) {
    channel = calloc(1, sizeof *channel);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
