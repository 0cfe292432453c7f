// Whoever used a lock last may destroy it, whoever was woken may free what woke it.
// expect(hb): nothing
// expect(hybrid fast): anything
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t mu;
    int users;
};

static void let_go(struct object *o) {
    pthread_mutex_lock(&o->mu);
    int left = --o->users;
    pthread_mutex_unlock(&o->mu);
    if (left == 0) {
        pthread_mutex_destroy(&o->mu);
        free(o);
    }
}

void *user(void *arg) {
    let_go(arg);
    return 0;
}

void *poster(void *arg) {
    sem_post(arg);
    return 0;
}

struct waited {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    int done;
};

void *signaller(void *arg) {
    struct waited *w = arg;
    pthread_mutex_lock(&w->mu);
    w->done = 1;
    pthread_cond_signal(&w->cv);
    pthread_mutex_unlock(&w->mu);
    return 0;
}

void *at_barrier(void *arg) {
    if (pthread_barrier_wait(arg) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(arg);
        free(arg);
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < 200; i++) {
        pthread_t a, b;
        struct object *o = malloc(sizeof *o);
        pthread_mutex_init(&o->mu, 0);
        o->users = 2;
        pthread_create(&a, 0, user, o);
        pthread_create(&b, 0, user, o);
        pthread_join(a, 0);
        pthread_join(b, 0);

        sem_t *s = malloc(sizeof *s);
        sem_init(s, 0, 0);
        pthread_create(&a, 0, poster, s);
        sem_wait(s);
        sem_destroy(s);
        pthread_join(a, 0);
        free(s);

        struct waited *w = malloc(sizeof *w);
        pthread_mutex_init(&w->mu, 0);
        pthread_cond_init(&w->cv, 0);
        w->done = 0;
        pthread_create(&a, 0, signaller, w);
        pthread_mutex_lock(&w->mu);
        while (!w->done) pthread_cond_wait(&w->cv, &w->mu);
        pthread_mutex_unlock(&w->mu);
        pthread_cond_destroy(&w->cv);
        pthread_mutex_destroy(&w->mu);
        free(w);
        pthread_join(a, 0);

        pthread_barrier_t *barrier = malloc(sizeof *barrier);
        pthread_barrier_init(barrier, 0, 2);
        pthread_create(&a, 0, at_barrier, barrier);
        pthread_create(&b, 0, at_barrier, barrier);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
