// A library whose functions take the lock of the queue, all but one. Nothing here starts a thread.
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int length;
    int limit;
};

struct queue *queue_new(int limit) {
    struct queue *q = malloc(sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    q->length = 0;
    q->limit = limit;
    return q;
}

int queue_push(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    if (q->length == q->limit) {
        pthread_mutex_unlock(&q->lock);
        return -1;
    }
    q->length++; // expect: data-race write #1
    pthread_mutex_unlock(&q->lock);
    return 0;
}

int queue_length(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    int n = q->length;
    pthread_mutex_unlock(&q->lock);
    return n;
}

void queue_pop(struct queue *q) {
    if (q->length > 0)
        q->length--; // expect: data-race write #1
}
