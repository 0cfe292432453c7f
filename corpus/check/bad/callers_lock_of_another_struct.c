// The caller holds the lock of a connection, the thread that of the pool.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int workers;
};
struct connection {
    pthread_mutex_t lock;
    struct pool *pool;
};
extern struct connection *find_connection(void);
extern int next_request(void);

static void *work(void *arg)
{
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    p->workers--; // expect: data-race #1
    pthread_mutex_unlock(&p->lock);
    return 0;
}

static void add_worker(struct pool *p, int kind)
{
    pthread_t id;
    if (kind == 7 && pthread_create(&id, 0, work, p) == 0) {
        pthread_detach(id);
        p->workers++; // expect: data-race #1
    }
}

static void on_request(struct connection *c, int kind)
{
    pthread_mutex_lock(&c->lock);
    add_worker(c->pool, kind);
    pthread_mutex_unlock(&c->lock);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(find_connection(), next_request());
    return 0;
}
