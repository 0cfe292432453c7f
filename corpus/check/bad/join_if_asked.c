// Whether a thread is joined is up to the caller, to the state of the object and to a function.
#include <pthread.h>
#include <stdlib.h>

struct job {
    pthread_t thread;
    int is_detached, first, second, third;
    int *buffer;
};

int user_wants_to_wait(void);

static void *set_first(void *arg) {
    struct job *job = arg;
    job->first = 1; // expect: data-race write #1
    return NULL;
}

static void *set_second(void *arg) {
    struct job *job = arg;
    job->second = 1; // expect: data-race write #2
    return NULL;
}

static void *set_third(void *arg) {
    struct job *job = arg;
    job->third = 1; // expect: data-race write #3
    return NULL;
}

static void *fill(void *arg) {
    struct job *job = arg;
    job->buffer[0] = 1; // expect: data-race write #4
    return NULL;
}

int run_for_caller(struct job *job, int wait) {
    if (pthread_create(&job->thread, NULL, set_first, job) != 0)
        return -1;
    if (wait)
        pthread_join(job->thread, NULL);
    return job->first; // expect: data-race read #1
}

int run_unless_detached(struct job *job) {
    if (pthread_create(&job->thread, NULL, set_second, job) != 0)
        return -1;
    if (!job->is_detached)
        pthread_join(job->thread, NULL);
    return job->second; // expect: data-race read #2
}

int run_for_user(struct job *job) {
    if (pthread_create(&job->thread, NULL, set_third, job) != 0)
        return -1;
    if (user_wants_to_wait())
        pthread_join(job->thread, NULL);
    return job->third; // expect: data-race read #3
}

void run_in_time(struct job *job, int is_late) {
    job->buffer = malloc(sizeof *job->buffer);
    if (pthread_create(&job->thread, NULL, fill, job) != 0)
        return;
    if (!is_late)
        pthread_join(job->thread, NULL);
    free(job->buffer); // expect: data-race free #4
}

int main(void) {
    return 0;
}
