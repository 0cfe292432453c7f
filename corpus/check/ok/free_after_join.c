// The block is freed after the join.
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *reader(void *arg) {
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += block[i];
    return (void *)(long)sum;
}

int main(void) {
    pthread_t t;
    block = calloc(4, sizeof *block);
    pthread_create(&t, NULL, reader, NULL);
    pthread_join(t, NULL);
    free(block);
    return 0;
}
