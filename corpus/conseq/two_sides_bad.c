// expect: use-after-free
// A side counts what it has sent after it said that it is done: the other one may have freed the
// channel by then.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct channel {
    atomic_int gone;
    int sent, received;
} *channel;

int leave(struct channel *c) {
    int is_last = atomic_exchange(&c->gone, 1);
    if (is_last) free(c);
    return is_last;
}

void *sender(void *arg) {
    struct channel *c = channel;
    if (!leave(c)) c->sent++;
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
