// A function for joins that refuses the main thread's own record: that one is known to be the
// thread that is asked for, so it is not joined.
#include <pthread.h>
#include <stdlib.h>

struct thread {
    pthread_t id;
    char *data;
};

static struct thread *current;

static void *work(void *argument) {
    struct thread *thread = argument;
    thread->data[0]++; // expect: data-race #1
    return NULL;
}

static struct thread *lib_thread_this(void) {
    return current;
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
    current = thread;
    lib_thread_join(thread);
    thread->data[0]++; // expect: data-race #1
    return 0;
}
