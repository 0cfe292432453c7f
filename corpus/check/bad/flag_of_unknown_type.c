// A thread waits for a flag whose type stands in a header that is missing. It finds its own store
// there for a while only: another thread sets the flag, and what it guards is not ordered by it.
#include <pthread.h>
#include "platform.h"

struct job {
    platform_flag done;
    int result;
};

static struct job job;

static void *work(void *argument) {
    struct job *j = argument;
    j->result = 42; // expect: data-race write #1
    j->done = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, &job);
    job.done = 0;
    while (!job.done)
        ;
    job.result++; // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
