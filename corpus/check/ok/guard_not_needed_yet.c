// Before its thread is there, and after it was joined, an object needs no lock.
#include <pthread.h>
#include <stdio.h>

struct job {
    pthread_mutex_t lock;
    pthread_t thread;
    int limit;
    int done;
};

static struct job job = {PTHREAD_MUTEX_INITIALIZER};

void set_limit(struct job *j, int limit) {
    j->limit = limit;
}

static int result(struct job *j) {
    return j->done;
}

static void *work(void *arg) {
    struct job *j = arg;
    pthread_mutex_lock(&j->lock);
    while (j->done < j->limit)
        j->done++;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int main(int argc, char **argv) {
    set_limit(&job, argc);
    if (pthread_create(&job.thread, NULL, work, &job) != 0)
        return 1;
    pthread_join(job.thread, NULL);
    printf("%d\n", result(&job));
    return 0;
}
