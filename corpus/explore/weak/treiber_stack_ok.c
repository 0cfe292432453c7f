// expect(sc c11): nothing
// A lock-free stack whose push releases and whose pop acquires.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    atomic_int value;
    struct node *_Atomic next;
};
struct node nodes[2];
struct node *_Atomic top;

static void push(struct node *n, int value) {
    atomic_store_explicit(&n->value, value, memory_order_relaxed);
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do atomic_store_explicit(&n->next, old, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &old, n, memory_order_release, memory_order_relaxed));
}

void *pusher(void *arg) {
    struct node *n = arg;
    push(n, 42);
    return 0;
}

void *popper(void *arg) {
    struct node *n = atomic_load_explicit(&top, memory_order_acquire);
    while (n && !atomic_compare_exchange_weak_explicit(&top, &n, atomic_load_explicit(&n->next, memory_order_relaxed),
                                                       memory_order_acquire, memory_order_acquire)) {
    }
    if (n) assert(atomic_load_explicit(&n->value, memory_order_relaxed) == 42);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, pusher, &nodes[0]);
    pthread_create(&b, 0, popper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
