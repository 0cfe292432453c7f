// expect: use-after-free
//@ bound: 1
// One thread frees a node that another is walking over; the block may be handed out again at once.
// Fails when: the walker has the node's address; the remover unlinks and frees it; the walker reads its value.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
};
struct node *_Atomic head;

void *walker(void *arg) {
    struct node *n = atomic_load(&head);
    if (n) arg = (char *)arg + n->value;                // expect: use-after-free here
    return arg;
}

void *remover(void *arg) {
    struct node *n = atomic_exchange(&head, 0);
    free(n);
    int *other = malloc(sizeof *other);
    *other = 12345;
    free(other);
    return arg;
}

int main(void) {
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    atomic_store(&head, n);
    pthread_t a, b;
    pthread_create(&a, 0, walker, 0);
    pthread_create(&b, 0, remover, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
