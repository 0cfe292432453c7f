// What is joined depends on the state of an object that `main` does not make.
#include <pthread.h>

struct job {
    pthread_t thread;
    int is_started, result;
};

static void *work(void *arg) {
    struct job *job = arg;
    job->result = compute(job);
    return NULL;
}

int run(struct job *job) {
    if (pthread_create(&job->thread, NULL, work, job) != 0)
        return -1;
    announce("started");
    if (job->is_started)
        pthread_join(job->thread, NULL);
    return job->result;
}

int main(void) {
    return 0;
}
