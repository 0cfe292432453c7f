// As kind_of_a_shared_object.c, with a switch, and a kind that no run knows.
#include <bus.h>
#include <pthread.h>
#include <stdlib.h>

struct transport {
    int kind;
    int volume;
    pthread_mutex_t media;
    pthread_mutex_t voice;
};

static pthread_mutex_t *lock_of(struct transport *t) {
    switch (t->kind) {
    case 1:
        return &t->media;
    default:
        return &t->voice;
    }
}

static void *work(void *arg) {
    struct transport *t = arg;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(lock_of(t));
        t->volume++;
        pthread_mutex_unlock(lock_of(t));
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct transport *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->media, NULL);
    pthread_mutex_init(&t->voice, NULL);
    t->kind = bus_kind();
    pthread_create(&thread, NULL, work, t);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(lock_of(t));
        t->volume--;
        pthread_mutex_unlock(lock_of(t));
        bus_announce(t);
    }
    pthread_join(thread, NULL);
    return t->volume;
}
