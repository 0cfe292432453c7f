// A function that nobody defines opens a connection that two threads use. All other code stores -1
// in its descriptor, so what follows the check needs the change.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct connection {
    int fd;
    int sent;
};

static void *work(void *arg) {
    struct connection *c = arg;
    connect_it(c);
    if (c->fd < 0)
        return NULL;
    c->sent++; // expect: data-race #1
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct connection *c = calloc(1, sizeof *c);
    c->fd = -1;
    pthread_create(&thread, NULL, work, c);
    c->sent++; // expect: data-race #1
    pthread_join(thread, NULL);
    return 0;
}
