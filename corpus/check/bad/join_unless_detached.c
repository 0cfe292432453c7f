// A function for joins that leaves out some threads, and which ones is not known.
#include <pthread.h>
#include <stdlib.h>

struct thread {
    pthread_t id;
    int is_detached;
    char *data;
};

extern int option(void);

static void *work(void *argument) {
    struct thread *thread = argument;
    thread->data[0]++; // expect: data-race #1
    return NULL;
}

static int lib_thread_join(struct thread *thread) {
    if (thread->is_detached == 1)
        return 1;
    return pthread_join(thread->id, NULL);
}

int main(void) {
    struct thread *thread = calloc(1, sizeof *thread);
    thread->data = calloc(1, 1);
    thread->is_detached = option();
    pthread_create(&thread->id, NULL, work, thread);
    lib_thread_join(thread);
    thread->data[0]++; // expect: data-race #1
    return 0;
}
