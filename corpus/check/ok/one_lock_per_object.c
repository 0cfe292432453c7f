// Each object has its own lock, and is only used under it.
#include <pthread.h>
#include <stdlib.h>

struct cell { pthread_mutex_t lock; int value; };
static struct cell *cells[2];

static void add(struct cell *c, int n) {
    pthread_mutex_lock(&c->lock);
    c->value += n;
    pthread_mutex_unlock(&c->lock);
}

static void *worker(void *arg) {
    for (int i = 0; i < 5; i++) {
        add(cells[i % 2], i);
        add(cells[1], 1);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        cells[i] = malloc(sizeof(struct cell));
        pthread_mutex_init(&cells[i]->lock, NULL);
        cells[i]->value = 0;
    }
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_destroy(&cells[i]->lock);
        free(cells[i]);
    }
    return 0;
}
