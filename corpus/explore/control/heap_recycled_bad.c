// expect: use-after-free
//@ always
// The same, and the block of the round before is still written to.
// Fails when: always.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg)
{
    char *last = 0;
    for (int i = 0; i < 150; i++) {
        char *block = malloc(32 << 20);
        if (!block) abort();
        block[i] = 1;
        if (i > 140) last[0]++;                         // expect: use-after-free here
        free(block);
        last = block;
    }
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
