// As ok/owner_of_a_shared_object.c, but only the unknown function can clear the flag. If it does,
// two threads own the batch.
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

static void *work(void *arg) {
    struct proactor *p = arg;
    int *batch = take_batch(p);
    if (batch) {
        loop_wake(p);
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
