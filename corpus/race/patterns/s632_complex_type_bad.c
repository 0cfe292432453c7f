// 6.3.2 in C: a linked list is pushed to by two threads without a lock; a node can get lost.
// Every mode reports the race on the head.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct node { struct node *next; int value; };
struct node *head;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) void push(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    n->next = head;                                     // expect: data-race read #1
    head = n;                                           // expect: data-race write #1 | write write #1
}

void *first(void *arg) {
    push(1);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    push(2);
    return arg;
}

int main(void) {
    push(0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    while (head) {
        struct node *n = head;
        head = n->next;
        free(n);
    }
    return 0;
}
