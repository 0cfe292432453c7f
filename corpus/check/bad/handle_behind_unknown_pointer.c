// The twin that frees in the other case: the thread, which runs, uses the block.
#include <pthread.h>
#include <stdlib.h>

struct start {
    void (*function)(void *);
    void *argument;
};

static void *run(void *argument) {
    struct start *start = argument;
    void (*function)(void *) = start->function; // expect: data-race read #1
    function(start->argument); // expect: data-race read #2
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
    if (*thread) {
        free(start); // expect: data-race free #1, data-race free #2
        return 0;
    }
    return -1;
}
