// expect: nothing
//@ monitors: leak
// Two threads install a block when there is none; the loser frees its own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *_Atomic block;

void *installer(void *arg) {
    void *mine = malloc(32), *none = 0;
    if (!atomic_compare_exchange_strong(&block, &none, mine)) free(mine);
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
