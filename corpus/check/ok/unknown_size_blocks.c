// Each thread has a block of its own, of a size that nobody knows here; its end is not the next one's beginning.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static unsigned long size;

static void *worker(void *arg) {
    char *buffer = malloc(size);
    for (unsigned long at = 0; at + 4096 < size; at += 4096)
        memset(&buffer[at + 512], 1, 512);
    free(buffer);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t t[3];
    size = strtoul(argv[1], NULL, 10);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
