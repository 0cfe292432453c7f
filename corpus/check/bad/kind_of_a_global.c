// As the twin in ok/, but the volume is changed after the locks are released.
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

static struct transport one;

static void *work(void *arg) {
    struct transport *t = &one;
    for (int i = 0; i < 3; i++) {
        lock_all(t);
        bus_announce(t);
        unlock_all(t);
        t->volume++; // expect: data-race #1
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    struct transport *t = &one;
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->speaker, NULL);
    pthread_mutex_init(&t->microphone, NULL);
    t->kind = VOICE;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
