// Two threads hold an object, and the last one that gives it back frees it. A thread passes the
// object to a function that nobody defines in between.
#include <bus.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct transport {
    atomic_int count;
    int volume;
};

static void give_back(struct transport *t) {
    int left = atomic_fetch_sub(&t->count, 1) - 1;
    if (left > 0)
        return;
    free(t);
}

static void *work(void *arg) {
    struct transport *t = arg;
    t->volume++;
    bus_announce(t);
    give_back(t);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct transport *t = calloc(1, sizeof *t);
    atomic_store(&t->count, 2);
    pthread_create(&thread, NULL, work, t);
    bus_announce(t);
    give_back(t);
    pthread_join(thread, NULL);
    return 0;
}
