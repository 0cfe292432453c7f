// The twin that frees what the thread uses after a start that succeeded.
#include <pthread.h>
#include <stdlib.h>

struct server {
    int socket;
};

int named_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                        void *argument, const char *name);

static void *serve(void *argument) {
    struct server *server = argument;
    server->socket = 5; // expect: data-race write #1
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    struct server *server = malloc(sizeof *server);
    if (!server)
        return 1;
    pthread_attr_init(&attributes);
    if (named_thread_create(&thread, &attributes, serve, server, "server") != 0)
        return 1;
    free(server); // expect: data-race free #1
    pthread_join(thread, 0);
    return 0;
}
