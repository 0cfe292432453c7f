// A local whose type stands in a header that is missing: other code knows the type, and how large
// it is. What it reads there is not the next local.
#include <pthread.h>
#include "ring.h"

struct layout {
    long entries[32];
};

static void *worker(void *arg) {
    struct layout *layout = arg;
    long sum = 0;
    for (int i = 0; i < 32; i++)
        sum += layout->entries[i];
    return (void *)sum;
}

int main(void) {
    struct ring ring;
    pthread_t thread;
    int stopped;
    int *flag = &stopped;
    pthread_create(&thread, NULL, worker, &ring);
    *flag = 1;
    pthread_join(thread, NULL);
    return 0;
}
