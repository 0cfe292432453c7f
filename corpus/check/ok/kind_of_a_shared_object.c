// The kind of a transport decides which locks are taken and released. Another thread hands the
// transport to a function that nobody defines. It may change the transport, but not between the
// lock and the release of one thread.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

enum kind { MEDIA = 1, VOICE = 2 };

struct transport {
    unsigned kind;
    int volume;
    pthread_mutex_t media;
    pthread_mutex_t speaker;
    pthread_mutex_t microphone;
};

static void lock_all(struct transport *t) {
    if (t->kind & MEDIA)
        pthread_mutex_lock(&t->media);
    else if (t->kind & VOICE) {
        pthread_mutex_lock(&t->speaker);
        pthread_mutex_lock(&t->microphone);
    }
}

static void unlock_all(struct transport *t) {
    if (t->kind & MEDIA)
        pthread_mutex_unlock(&t->media);
    else if (t->kind & VOICE) {
        pthread_mutex_unlock(&t->microphone);
        pthread_mutex_unlock(&t->speaker);
    }
}

static void *work(void *arg) {
    struct transport *t = arg;
    for (int i = 0; i < 3; i++) {
        lock_all(t);
        t->volume++;
        unlock_all(t);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct transport *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->speaker, NULL);
    pthread_mutex_init(&t->microphone, NULL);
    t->kind = bus_has_media() ? MEDIA : VOICE;
    pthread_create(&thread, NULL, work, t);
    for (int i = 0; i < 3; i++) {
        bus_announce(t);
        lock_all(t);
        t->volume--;
        unlock_all(t);
    }
    pthread_join(thread, NULL);
    return t->volume;
}
