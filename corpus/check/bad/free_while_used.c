// A block is freed while another thread may still read it.
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *reader(void *arg) {
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += block[i]; // expect: data-race read #1
    return (void *)(long)sum;
}

int main(void) {
    pthread_t t;
    block = calloc(4, sizeof *block);
    pthread_create(&t, NULL, reader, NULL);
    free(block); // expect: data-race free #1
    pthread_join(t, NULL);
    return 0;
}
