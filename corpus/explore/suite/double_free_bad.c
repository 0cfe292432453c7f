// expect: double-free
//@ bound: 1
// Two threads close the same connection: the pointer is read, freed and cleared in three steps.
// Fails when: A sees the buffer; B sees it, frees it and clears the pointer; A frees the same block again.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *_Atomic buffer;

void *closer(void *arg) {
    void *mine = atomic_load(&buffer);
    if (mine) {
        free(mine);                                     // expect: double-free here
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
