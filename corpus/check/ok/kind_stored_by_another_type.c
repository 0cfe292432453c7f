// As kind_that_another_thread_knows.c, but the kind is stored through the type of what all
// transports begin with.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

enum kind { MEDIA = 1, VOICE = 2 };

struct transport {
    unsigned kind;
    int volume;
    pthread_mutex_t media;
    pthread_mutex_t voice;
};

struct base {
    unsigned kind;
};

static void take(struct transport *t) {
    if (t->kind == VOICE)
        pthread_mutex_lock(&t->voice);
    else
        pthread_mutex_lock(&t->media);
}

static void give(struct transport *t) {
    if (t->kind == VOICE)
        pthread_mutex_unlock(&t->voice);
    else
        pthread_mutex_unlock(&t->media);
}

static void *work(void *arg) {
    struct transport *t = arg;
    for (int i = 0; i < 3; i++) {
        bus_announce(t);
        take(t);
        t->volume++;
        give(t);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    struct transport *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->voice, NULL);
    ((struct base *)t)->kind = argc > 1 ? VOICE : MEDIA;
    pthread_mutex_t *mutex = t->kind == VOICE ? &t->voice : &t->media;
    pthread_create(&thread, NULL, work, t);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(mutex);
        t->volume--;
        pthread_mutex_unlock(mutex);
    }
    pthread_join(thread, NULL);
    return t->volume;
}
