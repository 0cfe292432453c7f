// expect: assertion
//@ bound: 2
// Peterson's algorithm with the two announcements in the wrong order: the turn is given away before the interest is shown.
// Fails when: A gives the turn to B and is preempted; B gives it to A, shows interest, finds A not interested, and is preempted
// inside; A shows interest, finds that it is its turn, and goes in as well.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int interested[2], turn, inside;

void *contender(void *arg) {
    int self = (intptr_t)arg, other = 1 - self;
    atomic_store(&turn, other);
    atomic_store(&interested[self], 1);
    while (atomic_load(&interested[other]) && atomic_load(&turn) == other) sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0);          // expect: assertion here
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
