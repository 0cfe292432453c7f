// expect: use-after-free
// The same queue, which keeps its pointer to the last node when that is taken out: the next push
// writes to a freed node, though every access to the queue is locked.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static struct node *head, *tail;
static int ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = 0;
    pthread_mutex_lock(&lock);
    if (tail)
        tail->next = node;
    if (!head)
        head = node;
    tail = node;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static int pop(void) {
    pthread_mutex_lock(&lock);
    while (!head)
        pthread_cond_wait(&filled, &lock);
    struct node *node = head;
    head = node->next;
    pthread_mutex_unlock(&lock);
    int value = node->value;
    free(node);
    return value;
}

static void *produce(void *arg) {
    push(1);
    push(2);
    return arg;
}

static void *consume(void *arg) {
    ended = pop() + pop();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, produce, 0);
    pthread_create(&b, 0, consume, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(ended == 3);
    return 0;
}
