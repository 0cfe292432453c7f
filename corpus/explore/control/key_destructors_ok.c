// expect: nothing
// Destructors of thread-specific data run when a thread ends, before its join returns; one that sets the key again runs again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

pthread_key_t block_key, twice_key;
atomic_int freed, again;

static void free_block(void *block) {
    free(block);
    atomic_fetch_add(&freed, 1);
}

static void once_more(void *left) {
    atomic_fetch_add(&again, 1);
    if ((intptr_t)left > 1) pthread_setspecific(twice_key, (void *)((intptr_t)left - 1));
}

void *worker(void *arg) {
    assert(pthread_getspecific(block_key) == 0);
    pthread_setspecific(block_key, malloc(8));
    pthread_setspecific(twice_key, (void *)2);
    return arg;
}

int main(void) {
    pthread_key_create(&block_key, free_block);
    pthread_key_create(&twice_key, once_more);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(freed == 2 && again == 4);
    return 0;
}
