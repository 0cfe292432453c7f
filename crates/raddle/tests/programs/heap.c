// A race on a heap block, which has no name: its id is made of places.
#include <pthread.h>
#include <stdlib.h>

static void *bump(void *block) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) ++*(volatile int *)block;
    return 0;
}

static int *make(void) {
    int *block = malloc(sizeof *block);
    *block = 0;
    return block;
}

int main(void) {
    int *block = make();
    pthread_t a, b;
    pthread_create(&a, 0, bump, block);
    pthread_create(&b, 0, bump, block);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(block);
    return 0;
}
