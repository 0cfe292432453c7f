// After a start that has not failed, something is freed that the thread does not have.
#include <stdlib.h>

struct job { int state; };
extern int thread_create(unsigned long *id, void *(*function)(void *), void *data);

static void *work(void *data) {
    struct job *job = data;
    job->state = 2;
    return NULL;
}

int launch(char *name) {
    struct job *job = malloc(sizeof *job);
    unsigned long id;
    if (!job)
        return 1;
    job->state = 0;
    if (thread_create(&id, work, job) == 0) {
        free(name);
        return 0;
    }
    job->state = 1;
    return 1;
}
