// expect: nothing
// Memory that one thread unmaps and another one maps at the same place is not the same memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static void *work(void *arg)
{
    char *block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return arg;
    memset(block, 1, 64);
    block[0]++;
    munmap(block, 4096);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
