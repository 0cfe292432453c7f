// As guess/changed_status_of_own_element.c, with an atomic counter.
#include <library.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct worker {
    pthread_t thread;
    int status;
};

static atomic_int total;
static struct worker workers[3];

static void *work(void *arg) {
    struct worker *w = arg;
    library_ask(w);
    if (w->status == 0)
        return NULL;
    total++;
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}
