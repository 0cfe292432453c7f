// Each thread hands its own element of an array to a function that nobody defines. Only that
// function can set the status that leads to the counter.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct worker {
    pthread_t thread;
    int status;
};

static int total;
static struct worker workers[3];

static void *work(void *arg) {
    struct worker *w = arg;
    library_ask(w);
    if (w->status == 0)
        return NULL;
    total++; // expect: data-race #1
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}
