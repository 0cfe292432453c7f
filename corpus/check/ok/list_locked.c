// A list under a lock; what was taken out belongs to the taker.
#include <pthread.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(int v) {
    struct node *n = malloc(sizeof *n);
    n->value = v;
    pthread_mutex_lock(&lock);
    n->next = head;
    head = n;
    pthread_mutex_unlock(&lock);
}

static struct node *pop(void) {
    pthread_mutex_lock(&lock);
    struct node *n = head;
    if (n)
        head = n->next;
    pthread_mutex_unlock(&lock);
    return n;
}

static void *producer(void *arg) {
    for (int i = 0; i < 5; i++)
        push(i);
    return NULL;
}

static void *consumer(void *arg) {
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        struct node *n = pop();
        if (n) {
            sum += n->value;
            n->value = -1;
            free(n);
        }
    }
    return (void *)sum;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
