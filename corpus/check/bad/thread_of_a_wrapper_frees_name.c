// After a start that has not failed, the object that the thread has is changed.
#include <stdlib.h>

struct job { int state; };
extern int thread_create(unsigned long *id, void *(*function)(void *), void *data);

static void *work(void *data) {
    struct job *job = data;
    job->state = 2; // expect: data-race #1
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
        job->state = 1; // expect: data-race #1
        return 0;
    }
    return 1;
}
