// The library's function for joins refuses to join the calling thread itself. Which thread that is,
// is unknown here; it is not the one that `stop` ends.
#include <pthread.h>
#include <stdlib.h>

struct thread {
    pthread_t id;
    char *data;
};

extern struct thread *lib_thread_this(void);

static void *work(void *argument) {
    struct thread *thread = argument;
    thread->data[0]++;
    return NULL;
}

static int lib_thread_join(struct thread *thread) {
    if (thread == lib_thread_this())
        return 1;
    return pthread_join(thread->id, NULL);
}

int main(void) {
    struct thread *thread = calloc(1, sizeof *thread);
    thread->data = calloc(1, 1);
    pthread_create(&thread->id, NULL, work, thread);
    lib_thread_join(thread);
    free(thread->data);
    free(thread);
    return 0;
}
