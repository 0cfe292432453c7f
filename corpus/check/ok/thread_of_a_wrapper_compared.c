// Wrappers whose result is compared with one value: only that one says that the thread runs.
#include <pthread.h>
#include <stdlib.h>

#define TRUE 1
#define STARTED 7
typedef int BOOL;

BOOL my_thread_start(pthread_t *id, void *(*work)(void *), void *data);
int pool_thread_spawn(pthread_t *id, void *(*work)(void *), void *data);
int net_thread_run(pthread_t *id, void *(*work)(void *), void *data);

struct job { int done; };

static void *work(void *data) {
    struct job *job = data;
    job->done = 1;
    return NULL;
}

int main(void) {
    pthread_t id;
    struct job *first = malloc(sizeof *first), *second = malloc(sizeof *second), *third = malloc(sizeof *third);
    if (!first || !second || !third)
        return 1;
    if (my_thread_start(&id, work, first) != TRUE) {
        free(first);
        return 1;
    }
    int result = pool_thread_spawn(&id, work, second);
    if (result != STARTED) {
        free(second);
        exit(1);
    }
    if (net_thread_run(&id, work, third) == -1) {
        free(third);
        return 1;
    }
    return 0;
}
