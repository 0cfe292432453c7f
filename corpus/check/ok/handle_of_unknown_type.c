// The handle of a thread is stored in a member whose type stands in a header that is missing. What
// was just stored there is found there, so the start has not failed.
#include <stdlib.h>
#include "platform.h"

struct thread {
    int (*function)(void *);
    void *data;
    platform_handle handle;
};

static unsigned run(void *argument) {
    struct thread *thread = argument;
    return (unsigned)thread->function(thread->data);
}

struct thread *thread_create(int (*function)(void *), void *data) {
    struct thread *thread = malloc(sizeof *thread);
    if (!thread)
        return NULL;
    thread->function = function;
    thread->data = data;
    thread->handle = CreateThread(NULL, 0, (platform_start)run, thread, 0, NULL);
    if (!thread->handle) {
        free(thread);
        return NULL;
    }
    return thread;
}
