// The result is read before the thread is joined.
#include <pthread.h>

struct job {
    pthread_t thread;
    int is_started, result;
};

static void *work(void *arg) {
    struct job *job = arg;
    job->result = compute(1); // expect: data-race write #1
    return NULL;
}

int run(struct job *job) {
    if (pthread_create(&job->thread, NULL, work, job) != 0)
        return -1;
    int result = job->result; // expect: data-race read #1
    if (job->is_started)
        pthread_join(job->thread, NULL);
    return result;
}

int main(void) {
    return 0;
}
