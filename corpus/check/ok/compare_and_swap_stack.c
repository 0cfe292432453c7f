// A stack whose head is exchanged atomically; nodes are published by the exchange.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
static _Atomic(struct node *) head;

static void push(int v) {
    struct node *n = malloc(sizeof *n);
    n->value = v;
    n->next = atomic_load(&head);
    while (!atomic_compare_exchange_weak(&head, &n->next, n))
        ;
}

static void *worker(void *arg) {
    push(1);
    push(2);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    int sum = 0;
    for (struct node *n = atomic_load(&head); n; n = n->next)
        sum += n->value;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sum;
}
