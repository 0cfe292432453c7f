// A function for joins that leaves out the last of a list, and which one that is, is not known.
#include <pthread.h>
#include <stdlib.h>

struct thread {
    pthread_t id;
    char *data;
};

extern struct thread *last_of_list(void);

static void *work(void *argument) {
    struct thread *thread = argument;
    thread->data[0]++; // expect: data-race #1
    return NULL;
}

static int lib_thread_join(struct thread *thread) {
    if (thread == last_of_list())
        return 1;
    return pthread_join(thread->id, NULL);
}

int main(void) {
    struct thread *thread = calloc(1, sizeof *thread);
    thread->data = calloc(1, 1);
    pthread_create(&thread->id, NULL, work, thread);
    lib_thread_join(thread);
    thread->data[0]++; // expect: data-race #1
    return 0;
}
