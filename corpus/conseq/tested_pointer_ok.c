// expect: nothing
// A pointer is taken out and cleared in one step: only one thread gets the block.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *_Atomic buffer;

void *closer(void *arg) {
    void *mine = atomic_exchange(&buffer, 0);
    if (mine)
        free(mine);
    return arg;
}

int main(void) {
    atomic_store(&buffer, malloc(16));
    pthread_t a, b;
    pthread_create(&a, 0, closer, 0);
    pthread_create(&b, 0, closer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
