// expect: leak
//@ monitors: leak
//@ bound: 1
// Two threads push onto a list without a lock; blocks that point to each other are lost with the first.
// Fails when: both read the head before either stores it: the node that is overwritten is lost, and what hangs on it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    char *text;
};

struct node *_Atomic head;

void *push(void *arg) {
    struct node *n = malloc(sizeof *n);   // expect: leak here
    n->text = malloc(8);                  // expect: leak here
    n->next = atomic_load(&head);
    atomic_store(&head, n);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, push, 0);
    pthread_create(&b, 0, push, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (struct node *n = atomic_load(&head); n;) {
        struct node *next = n->next;
        free(n->text);
        free(n);
        n = next;
    }
    return 0;
}
