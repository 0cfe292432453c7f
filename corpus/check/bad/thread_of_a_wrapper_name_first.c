// A wrapper that gets the thread's name before what pthread_create gets; nobody joins the thread.
#include <pthread.h>

int named_pthread_create(const char *name, pthread_t *id, const pthread_attr_t *attributes,
                         void *(*work)(void *), void *data);

static int total;

static void *work(void *data) {
    total += *(int *)data; // expect: data-race #1
    return NULL;
}

int main(void) {
    pthread_t id;
    static int one = 1;
    if (named_pthread_create("worker1", &id, NULL, work, &one) != 0)
        return 1;
    total++; // expect: data-race #1
    return 0;
}
