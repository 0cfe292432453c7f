// As the twin in ok/, but one thread changes the volume after it has released the locks.
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

static struct transport *only;
static pthread_mutex_t publish = PTHREAD_MUTEX_INITIALIZER;

static void *make(void *arg) {
    struct transport *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->speaker, NULL);
    pthread_mutex_init(&t->microphone, NULL);
    t->kind = bus_has_media() ? MEDIA : VOICE;
    pthread_mutex_lock(&publish);
    only = t;
    pthread_mutex_unlock(&publish);
    for (int i = 0; i < 3; i++) {
        lock_all(t);
        t->volume++; // expect: data-race #1
        bus_announce(t);
        unlock_all(t);
    }
    return arg;
}

static void *work(void *arg) {
    pthread_mutex_lock(&publish);
    struct transport *t = only;
    pthread_mutex_unlock(&publish);
    if (t) {
        lock_all(t);
        unlock_all(t);
        t->volume++; // expect: data-race #1
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, make, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
