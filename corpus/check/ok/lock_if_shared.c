// A pool that is made elsewhere locks if it is shared, and so does its caller if nobody holds the
// lock yet.
#include <pthread.h>
#include <stddef.h>

struct node { struct node *next; };
struct pool {
    int is_shared;
    pthread_mutex_t lock;
    struct node *free;
};

static void pool_put(struct pool *pool, struct node *node) {
    int result;
    if (pool->is_shared && (result = pthread_mutex_lock(&pool->lock)) != 0)
        return;
    node->next = pool->free;
    pool->free = node;
    if (pool->is_shared)
        pthread_mutex_unlock(&pool->lock);
}

static struct node nodes[2];

static void *work(void *data) {
    pool_put(data, &nodes[0]);
    return NULL;
}

void run(struct pool *pool) {
    pthread_t t;
    if (pthread_create(&t, NULL, work, pool) != 0)
        return;
    pool_put(pool, &nodes[1]);
    pthread_join(t, NULL);
}

static int total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *data) {
    pthread_mutex_lock(&total_lock);
    total++;
    pthread_mutex_unlock(&total_lock);
    return data;
}

void add(int is_locked) {
    pthread_t t;
    if (pthread_create(&t, NULL, count, NULL) != 0)
        return;
    if (!is_locked)
        pthread_mutex_lock(&total_lock);
    total++;
    if (!is_locked)
        pthread_mutex_unlock(&total_lock);
}
