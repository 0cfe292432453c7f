// The caller holds the lock, but the thread takes none.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int limit;
};

static void *worker(void *arg) {
    struct pool *pool = arg;
    return pool->limit > 0 ? arg : NULL; // expect: data-race read #1
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

int main(void) {
    return 0;
}
