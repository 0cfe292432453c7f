// The caller holds the lock of the pool, the thread that of the log.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int limit;
};

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int logged;

static void *worker(void *arg) {
    struct pool *pool = arg;
    pthread_mutex_lock(&log_lock);
    logged = pool->limit; // expect: data-race read #1
    pthread_mutex_unlock(&log_lock);
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

int main(void) {
    return 0;
}
