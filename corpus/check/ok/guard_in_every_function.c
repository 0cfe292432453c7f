// Every function holds the lock, or its callers do; what is new is nobody else's, and a look before
// the lock is taken is repeated under it.
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

static void grow(struct queue *q) {
    q->length++;
}

int queue_push(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    if (q->length == q->limit) {
        pthread_mutex_unlock(&q->lock);
        return -1;
    }
    grow(q);
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
    if (q->length == 0)
        return;
    pthread_mutex_lock(&q->lock);
    if (q->length > 0)
        q->length--;
    pthread_mutex_unlock(&q->lock);
}

static struct queue *copy_of(struct queue *old) {
    struct queue *q = queue_new(old->limit);
    q->length = 1;
    return q;
}

struct queue *queue_with_one(struct queue *old) {
    return copy_of(old);
}

void queue_free(struct queue *q) {
    q->length = -1;
    free(q);
}
