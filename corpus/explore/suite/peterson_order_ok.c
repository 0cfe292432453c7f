// expect: nothing
// Peterson's algorithm: interest first, then the turn.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int interested[2], turn, inside;

void *contender(void *arg) {
    int self = (intptr_t)arg, other = 1 - self;
    atomic_store(&interested[self], 1);
    atomic_store(&turn, other);
    while (atomic_load(&interested[other]) && atomic_load(&turn) == other) sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&interested[self], 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, contender, (void *)0);
    pthread_create(&b, 0, contender, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
