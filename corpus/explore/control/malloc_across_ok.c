// expect: nothing
// Blocks made by one thread and freed by another, with calloc, realloc and aligned memory.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *maker(void *arg) {
    char *block = calloc(1, 100);
    for (int i = 0; i < 100; i++) assert(block[i] == 0);
    memset(block, 'x', 100);
    block = realloc(block, 5000);
    assert(block[99] == 'x');
    (void)arg;
    return block;
}

void *freer(void *arg) {
    free(arg);
    void *aligned = 0;
    assert(posix_memalign(&aligned, 64, 200) == 0 && (uintptr_t)aligned % 64 == 0);
    return aligned;
}

int main(void) {
    pthread_t a, b, c;
    void *one, *two;
    pthread_create(&a, 0, maker, 0);
    pthread_create(&b, 0, maker, 0);
    pthread_join(a, &one);
    pthread_join(b, &two);
    assert(one != two);
    pthread_create(&c, 0, freer, one);
    free(two);
    pthread_join(c, &one);
    free(one);
    return 0;
}
