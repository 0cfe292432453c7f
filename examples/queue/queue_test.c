/* Two workers do three jobs. */
#include "queue.h"
#include <assert.h>
#include <stdio.h>

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *work(void *done)
{
    for (int job; (job = queue_pop(&queue)) != 0;)
        *(int *)done += job;
    return NULL;
}

int main(void)
{
    pthread_t workers[2];
    int done[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, work, &done[i]);
    for (int job = 1; job <= 3; job++)
        queue_push(&queue, job);
    queue_close(&queue);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(done[0] + done[1] == 6);
    puts("all jobs done");
    return 0;
}
