// A thread passes an object to a function that nobody defines, and then joins the thread whose
// handle is in the object.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

struct transport {
    pthread_t manager;
    int volume;
};

static void *manage(void *arg) {
    struct transport *t = arg;
    t->volume++;
    return NULL;
}

static void *reap(void *arg) {
    struct transport *t = arg;
    bus_announce(t);
    pthread_join(t->manager, NULL);
    t->volume--;
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
