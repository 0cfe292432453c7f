/* A queue of jobs for a pool of workers. */
#include <pthread.h>
#include <stdbool.h>

enum { QUEUE_SIZE = 8 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int jobs[QUEUE_SIZE];
    int count;
    bool closed;
};

void queue_push(struct queue *queue, int job);

/* The next job, or 0 when there is none and never will be. */
int queue_pop(struct queue *queue);

/* No more jobs will come. */
void queue_close(struct queue *queue);
