// A wrapper that gets the thread's name before what pthread_create gets. The first name has as many
// bytes as a handle.
#include <pthread.h>
#include <stdlib.h>

int named_pthread_create(const char *name, pthread_t *id, const pthread_attr_t *attributes,
                         void *(*work)(void *), void *data);

static int total;

static void *work(void *data) {
    total += *(int *)data;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    static int one = 1, two = 2;
    if (named_pthread_create("worker1", &first, NULL, work, &one) != 0)
        total = -1;
    else
        pthread_join(first, NULL);
    if (named_pthread_create("second worker", &second, NULL, work, &two))
        return 1;
    pthread_join(second, NULL);
    return total;
}
