// Sixteen-byte atomics (cmpxchg16b): a pointer and a counter changed together, as in a lock-free stack with tags. The acquire
// and release of the compare-exchange order the nodes. Silent in every mode.
//@ flags: -O1 -mcx16
//@ libs: -latomic
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

struct node { struct node *next; long value; };
typedef unsigned __int128 pair; // low half: pointer, high half: tag
_Alignas(16) pair top;
enum { T = 3, N = 300 };

static struct node *pointer(pair p) { return (struct node *)(unsigned long)p; }
static pair tagged(struct node *n, pair old) { return (pair)(unsigned long)n | ((old >> 64) + 1) << 64; }

static void push(struct node *n) {
    pair old = __atomic_load_n(&top, __ATOMIC_ACQUIRE), fresh;
    do {
        __atomic_store_n(&n->next, pointer(old), __ATOMIC_RELAXED);
        fresh = tagged(n, old);
    } while (!__atomic_compare_exchange_n(&top, &old, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

static struct node *pop(void) {
    pair old = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
    while (pointer(old)) {
        pair fresh = tagged(__atomic_load_n(&pointer(old)->next, __ATOMIC_RELAXED), old);
        if (__atomic_compare_exchange_n(&top, &old, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) break;
    }
    return pointer(old);
}

void *work(void *arg) {
    struct node *mine = arg;
    for (int i = 0; i < N; i++) {
        mine[i % 8].value = i;
        push(&mine[i % 8]);
        struct node *n;
        while (!(n = pop())) {}
        n->value = -1;
        if (n != &mine[i % 8]) { // someone else's: give it back, and look for ours
            push(n);
            while ((n = pop()) != &mine[i % 8])
                if (n) push(n);
        }
    }
    return 0;
}

int main(void) {
    struct node *nodes = calloc(T * 8, sizeof *nodes);
    pthread_t t[T];
    for (int i = 0; i < T; i++) pthread_create(&t[i], 0, work, nodes + i * 8);
    for (int i = 0; i < T; i++) pthread_join(t[i], 0);
    free(nodes);
    return pointer(top) != 0;
}
