// A block that is freed twice, ordered by a join. The C library then ends the process.
//@ exit: 134
#include <pthread.h>
#include <stdlib.h>

static char *volatile block;

static void *release(void *arg) {
    free(block); // expect: use-after-free free #1
    return arg;
}

int main(void) {
    block = malloc(40);
    pthread_t thread;
    pthread_create(&thread, 0, release, 0);
    pthread_join(thread, 0);
    free(block); // expect: use-after-free free #1
    return 0;
}
