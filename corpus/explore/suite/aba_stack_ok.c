// expect: nothing
// A lock-free stack whose top carries a version in its upper half: the exchange fails when the top was away in between.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { NODES = 3, NONE = 0xffff };
_Atomic uint64_t top; // version << 16 | node
atomic_int next_of[NODES], owned[NODES];

static int pop(void) {
    for (;;) {
        uint64_t old = atomic_load(&top);
        int node = old & 0xffff;
        if (node == NONE) return NONE;
        uint64_t next = ((old >> 16) + 1) << 16 | (unsigned)atomic_load(&next_of[node]);
        if (atomic_compare_exchange_strong(&top, &old, next)) {
            assert(atomic_fetch_add(&owned[node], 1) == 0);
            return node;
        }
    }
}

static void push(int node) {
    atomic_fetch_sub(&owned[node], 1);
    uint64_t old = atomic_load(&top);
    do atomic_store(&next_of[node], (int)(old & 0xffff));
    while (!atomic_compare_exchange_strong(&top, &old, ((old >> 16) + 1) << 16 | (unsigned)node));
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
