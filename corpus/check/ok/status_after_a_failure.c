// A job has status 0 from the start, and -1 once it has failed. A function that nobody defines gets
// the failed job and leaves its status alone.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
    int status;
    int used;
};

static void *work(void *arg) {
    struct job *j = arg;
    j->status = -1;
    library_log(j);
    if (j->status == 0)
        j->used++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct job *j = calloc(1, sizeof *j);
    pthread_create(&thread, NULL, work, j);
    j->used++;
    pthread_join(thread, NULL);
    return 0;
}
