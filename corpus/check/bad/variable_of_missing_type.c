// A local whose type stands in a header that is missing. Two threads use the same part of it.
#include <pthread.h>
#include "ring.h"

struct layout {
    long entries[32];
};

static void *worker(void *arg) {
    struct layout *layout = arg;
    layout->entries[20]++; // expect: data-race #1
    return NULL;
}

int main(void) {
    struct ring ring;
    pthread_t thread;
    struct layout *layout = (struct layout *)&ring;
    pthread_create(&thread, NULL, worker, &ring);
    layout->entries[20]++; // expect: data-race #1
    pthread_join(thread, NULL);
    return 0;
}
