// The same start as in the correct program, but the block is freed when the thread runs.
#include <stdlib.h>
#include "platform.h"

struct thread {
    int (*function)(void *);
    void *data;
    platform_handle handle;
};

static unsigned run(void *argument) {
    struct thread *thread = argument;
    return (unsigned)thread->function(thread->data); // expect: data-race read #1
}

struct thread *thread_create(int (*function)(void *), void *data) {
    struct thread *thread = malloc(sizeof *thread);
    if (!thread)
        return NULL;
    thread->function = function;
    thread->data = data;
    thread->handle = CreateThread(NULL, 0, (platform_start)run, thread, 0, NULL);
    if (thread->handle) {
        free(thread); // expect: data-race free #1
        return NULL;
    }
    return thread;
}
