// The handle is left in a local of the caller, between other locals. A start that looked failed
// would free what the thread uses.
#include <pthread.h>
#include <stdlib.h>

struct server {
    int socket;
};

int named_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                        void *argument, const char *name);

static void *serve(void *argument) {
    struct server *server = argument;
    while (server->socket < 5)
        server->socket++;
    return 0;
}

struct server *start(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (named_thread_create(&thread, &attributes, serve, server, "server") != 0) {
        free(server);
        return NULL;
    }
    return server;
}

int main(void) {
    return start() ? 0 : 1;
}
