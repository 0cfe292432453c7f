// A pool locks if it is shared; the thread goes around the lock.
#include <pthread.h>
#include <stddef.h>

struct node { struct node *next; };
struct pool {
    int is_shared;
    pthread_mutex_t lock;
    struct node *free;
};

static void pool_put(struct pool *pool, struct node *node) {
    if (pool->is_shared)
        pthread_mutex_lock(&pool->lock);
    node->next = pool->free; // expect: data-race #1
    pool->free = node; // expect: data-race #1
    if (pool->is_shared)
        pthread_mutex_unlock(&pool->lock);
}

static void *work(void *data) {
    struct pool *pool = data;
    pool->free = NULL; // expect: data-race #1
    return NULL;
}

void run(struct pool *pool, struct node *node) {
    pthread_t t;
    if (pthread_create(&t, NULL, work, pool) != 0)
        return;
    pool_put(pool, node);
    pthread_join(t, NULL);
}
