// Threads are added by a function whose only caller holds the lock; `main` does not come that far.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int limit, busy;
};

static void *worker(void *arg) {
    struct pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    if (pool->busy < pool->limit)
        pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int resize_internal(struct pool *pool, int limit) {
    pthread_t t;
    if (pthread_create(&t, NULL, worker, pool) != 0)
        return 1;
    pool->limit = limit;
    return 0;
}

int resize(struct pool *pool, int limit) {
    if (pool == NULL)
        return 1;
    pthread_mutex_lock(&pool->lock);
    int result = resize_internal(pool, limit);
    pthread_mutex_unlock(&pool->lock);
    return result;
}

int main(void) {
    return 0;
}
