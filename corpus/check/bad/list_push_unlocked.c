// Nodes are pushed on a shared list without a lock.
#include <pthread.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
static struct node *head;

static void push(int v) {
    struct node *n = malloc(sizeof *n);
    n->value = v;
    n->next = head; // expect: data-race read #1
    head = n; // expect: data-race write #1
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
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
