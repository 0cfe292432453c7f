// One caller holds the lock, the other one does not.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int limit, busy;
};

static void *worker(void *arg) {
    struct pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    if (pool->busy < pool->limit) // expect: data-race read #1
        pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int resize_internal(struct pool *pool, int limit) {
    pthread_t t;
    if (pthread_create(&t, NULL, worker, pool) != 0)
        return 1;
    pool->limit = limit; // expect: data-race write #1
    return 0;
}

int resize(struct pool *pool, int limit) {
    pthread_mutex_lock(&pool->lock);
    int result = resize_internal(pool, limit);
    pthread_mutex_unlock(&pool->lock);
    return result;
}

int resize_fast(struct pool *pool, int limit) {
    return resize_internal(pool, limit);
}

int main(void) {
    return 0;
}
