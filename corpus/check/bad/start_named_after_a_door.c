// What is unlocked is a door.
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

int on_door_unlocked(struct pool *pool) {
    pthread_t t;
    if (pthread_create(&t, NULL, worker, pool) != 0)
        return 1;
    pool->limit = 1; // expect: data-race write #1
    return 0;
}

int main(void) {
    return 0;
}
