// A member whose type stands in a header that is missing: another file knows it, and how large it
// is.
#include <pthread.h>
#include "engine.h"

struct server {
    int number;
    engine_t engine;
    connection_t connections[4];
    pthread_t thread;
    int stopped;
};

struct engine {
    long sessions;
    long counter;
    char name[32];
};

static struct server server;

static void start(void *at) {
    struct engine *engine = at;
    engine->sessions = 0;
    engine->counter = 1;
    engine->name[0] = 'e';
}

static void *worker(void *arg) {
    struct server *s = arg;
    start(&s->engine);
    start(&s->connections);
    return NULL;
}

int main(void) {
    pthread_create(&server.thread, NULL, worker, &server);
    server.stopped = 1;
    pthread_join(server.thread, NULL);
    return 0;
}
