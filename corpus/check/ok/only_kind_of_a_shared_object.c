// The program makes transports of one kind only, but could use two. A thread hands its transport to
// a function that nobody defines, also while it holds the locks of the kind. That function does not
// change the kind.
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
        take(t);
        t->volume++;
        bus_announce(t);
        give(t);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct transport *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->voice, NULL);
    t->kind = MEDIA;
    pthread_create(&thread, NULL, work, t);
    for (int i = 0; i < 3; i++) {
        take(t);
        t->volume--;
        give(t);
        bus_announce(t);
    }
    pthread_join(thread, NULL);
    return t->volume;
}
