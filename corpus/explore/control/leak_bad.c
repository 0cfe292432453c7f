// expect: leak
//@ monitors: leak
//@ bound: 1
// Two threads install a block when there is none.
// Fails when: both see none: the first block is overwritten and lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *_Atomic block;

void *installer(void *arg) {
    if (!atomic_load(&block)) atomic_store(&block, malloc(32)); // expect: leak here
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, installer, 0);
    pthread_create(&b, 0, installer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(atomic_load(&block));
    return 0;
}
