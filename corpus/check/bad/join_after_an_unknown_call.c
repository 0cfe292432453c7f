// As the correct program, but the thread is joined after the access.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

struct transport {
    pthread_t manager;
    int volume;
};

static void *manage(void *arg) {
    struct transport *t = arg;
    t->volume++; // expect: data-race #1
    return NULL;
}

static void *reap(void *arg) {
    struct transport *t = arg;
    bus_announce(t);
    t->volume--; // expect: data-race #1
    pthread_join(t->manager, NULL);
    free(t);
    return NULL;
}

int main(void) {
    pthread_t reaper;
    struct transport *t = calloc(1, sizeof *t);
    pthread_create(&t->manager, NULL, manage, t);
    pthread_create(&reaper, NULL, reap, t);
    pthread_join(reaper, NULL);
    return 0;
}
