// A library stores the handle behind a pointer of its caller and looks there whether the start has
// failed. What it has just stored is what it finds.
#include <pthread.h>
#include <stdlib.h>

struct start {
    void (*function)(void *);
    void *argument;
};

static void *run(void *argument) {
    struct start *start = argument;
    void (*function)(void *) = start->function;
    void *data = start->argument;
    free(start);
    function(data);
    return 0;
}

int start_task(pthread_t *thread, void (*function)(void *), void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start)
        return -1;
    start->function = function;
    start->argument = argument;
    if (pthread_create(thread, 0, run, start) != 0)
        *thread = 0;
    if (!*thread) {
        free(start);
        return -1;
    }
    return 0;
}
