// An access to a freed block is wrong whatever orders the two: a join, a lock, or that one thread makes both.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};
struct node *volatile first, *volatile second, *volatile third;
volatile int sink;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *release(void *arg) {
    free(first); // expect: use-after-free free #1
    pthread_mutex_lock(&lock);
    free(second); // expect: use-after-free free #2
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    first = calloc(1, sizeof *first);
    second = calloc(1, sizeof *second);
    third = calloc(1, sizeof *third);
    pthread_t thread;
    pthread_create(&thread, 0, release, 0);
    pthread_join(thread, 0);
    sink = first->value; // expect: use-after-free read #1
    pthread_mutex_lock(&lock);
    second->value = 1; // expect: use-after-free write #2
    pthread_mutex_unlock(&lock);
    free(third); // expect: use-after-free free #3
    sink = third->value; // expect: use-after-free read #3
    return 0;
}
