// As guess/changed_opened_by_an_unknown_function.c, with a lock around the counter.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct connection {
    pthread_mutex_t lock;
    int fd;
    int sent;
};

static void *work(void *arg) {
    struct connection *c = arg;
    connect_it(c);
    if (c->fd < 0)
        return NULL;
    pthread_mutex_lock(&c->lock);
    c->sent++;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct connection *c = calloc(1, sizeof *c);
    c->fd = -1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_create(&thread, NULL, work, c);
    pthread_mutex_lock(&c->lock);
    c->sent++;
    pthread_mutex_unlock(&c->lock);
    pthread_join(thread, NULL);
    return 0;
}
