// The C side: a locked list, and a test for emptiness that does without the lock.
#include "list.h"
#include <pthread.h>
#include <stdlib.h>

struct node { struct node *next; long value; };
static struct node *head;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void list_push(long value) {
    struct node *n = malloc(sizeof *n);
    pthread_mutex_lock(&mu);
    n->value = value;
    n->next = head;
    head = n;                                           // expect: data-race write #1
    pthread_mutex_unlock(&mu);
}

int list_empty(void) {
    return head == 0;                                   // expect: data-race read #1
}

long list_sum(void) {
    pthread_mutex_lock(&mu);
    long sum = 0;
    for (const struct node *n = head; n; n = n->next) sum += n->value;
    pthread_mutex_unlock(&mu);
    return sum;
}
