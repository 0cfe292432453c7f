// As the correct program, but the thread uses the object after it has given it back.
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
    free(t); // expect: data-race #1
}

static void *work(void *arg) {
    struct transport *t = arg;
    bus_announce(t);
    give_back(t);
    t->volume++; // expect: data-race #1
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
