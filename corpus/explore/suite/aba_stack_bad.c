// expect: assertion
//@ bound: 1
// A lock-free stack of three nodes: pop reads top and its next, then swaps with a bare compare-and-exchange.
// Fails when: A reads top 0 and next 1; B pops 0, pops 1, and pushes 0 back; A's exchange succeeds and makes 1, which B owns, the
// top; A's second pop takes it too.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 3, NONE = -1 };
atomic_int top, next_of[NODES], owned[NODES];

static int pop(void) {
    for (;;) {
        int old = atomic_load(&top);
        if (old == NONE) return NONE;
        int next = atomic_load(&next_of[old]);
        if (atomic_compare_exchange_strong(&top, &old, next)) {
            assert(atomic_fetch_add(&owned[old], 1) == 0); // expect: assertion here
            return old;
        }
    }
}

static void push(int node) {
    atomic_fetch_sub(&owned[node], 1);
    int old = atomic_load(&top);
    do atomic_store(&next_of[node], old);
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

void *two_pops(void *arg) {
    pop();
    pop();
    return arg;
}

void *recycle(void *arg) {
    int mine = pop();
    pop();
    if (mine != NONE) push(mine);
    return arg;
}

int main(void) {
    for (int i = 0; i < NODES; i++) next_of[i] = i + 1 < NODES ? i + 1 : NONE;
    pthread_t a, b;
    pthread_create(&a, 0, two_pops, 0);
    pthread_create(&b, 0, recycle, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
