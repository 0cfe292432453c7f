#include "queue.h"
#include <assert.h>

void queue_push(struct queue *queue, int job)
{
    pthread_mutex_lock(&queue->lock);
    assert(queue->count < QUEUE_SIZE);
    queue->jobs[queue->count++] = job;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

int queue_pop(struct queue *queue)
{
    int job = 0;
    pthread_mutex_lock(&queue->lock);
    if (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    if (!queue->closed || queue->count > 0) {
        assert(queue->count > 0);
        job = queue->jobs[--queue->count];
    }
    pthread_mutex_unlock(&queue->lock);
    return job;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}
