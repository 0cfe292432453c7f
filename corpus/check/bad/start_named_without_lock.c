// The name says that no lock is taken here, and nobody else takes one.
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

int pool_resize_nolock(struct pool *pool, int limit) {
    pthread_t t;
    if (pthread_create(&t, NULL, worker, pool) != 0)
        return 1;
    pool->limit = limit; // expect: data-race write #1
    return 0;
}

int main(void) {
    return 0;
}
