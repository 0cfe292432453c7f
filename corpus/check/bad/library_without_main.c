// No main: the exported function starts a thread and goes on using what it shares.
#include <pthread.h>
#include <stdlib.h>

struct logger { int level; int running; pthread_t thread; };

static void *run(void *arg) {
    struct logger *l = arg;
    while (l->running) // expect: data-race read #1
        ;
    return NULL;
}

void logger_start(struct logger *l) {
    l->running = 1;
    pthread_create(&l->thread, NULL, run, l);
}

void logger_stop(struct logger *l) {
    logger_start(l);
    l->running = 0; // expect: data-race write #1
    pthread_join(l->thread, NULL);
}
