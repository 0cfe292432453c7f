// The wrapper returns true, so the thread runs and the job is freed under it.
#include <pthread.h>
#include <stdlib.h>

#define TRUE 1
typedef int BOOL;

BOOL my_thread_start(pthread_t *id, void *(*work)(void *), void *data);

struct job { int done; };

static void *work(void *data) {
    struct job *job = data;
    job->done = 1; // expect: data-race #1
    return NULL;
}

int main(void) {
    pthread_t id;
    struct job *job = malloc(sizeof *job);
    if (!job)
        return 1;
    if (my_thread_start(&id, work, job) != TRUE) {
        free(job);
        exit(1);
    }
    free(job); // expect: data-race #1
    return 0;
}
