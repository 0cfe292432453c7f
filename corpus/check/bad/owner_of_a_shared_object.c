// As the correct program, but a thread gives the batch back before it is done with it.
#include <loop.h>
#include <pthread.h>
#include <stdlib.h>

struct proactor {
    pthread_mutex_t lock;
    int is_owned;
    int batch;
};

static int *take_batch(struct proactor *p) {
    int *batch = NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->is_owned) {
        p->is_owned = 1;
        batch = &p->batch;
    }
    pthread_mutex_unlock(&p->lock);
    return batch;
}

static void done(struct proactor *p) {
    pthread_mutex_lock(&p->lock);
    p->is_owned = 0;
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg) {
    struct proactor *p = arg;
    int *batch = take_batch(p);
    if (batch) {
        loop_wake(p);
        done(p);
        (*batch)++; // expect: data-race #1
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    struct proactor *p = calloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_create(&a, NULL, work, p);
    pthread_create(&b, NULL, work, p);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return p->batch;
}
