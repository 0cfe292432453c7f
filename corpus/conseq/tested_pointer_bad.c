// expect: double-free
// A pointer is tested, given back and cleared in three steps: two threads may give back one block.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *_Atomic buffer;

void *closer(void *arg) {
    void *mine = atomic_load(&buffer);
    if (mine) {
        free(mine);
        atomic_store(&buffer, 0);
    }
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
