// A function that nobody defines stores the handle of a thread in an object, and that thread is
// joined by it. Before, the member was no handle.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

struct service {
    pthread_t thread;
    int count;
};

static void *serve(void *arg) {
    struct service *s = arg;
    s->count++;
    return NULL;
}

int main(void) {
    struct service *s = calloc(1, sizeof *s);
    pthread_t thread;
    pthread_create(&thread, NULL, serve, s);
    bus_adopt(s, thread);
    pthread_join(s->thread, NULL);
    s->count++;
    return s->count;
}
