// Two functions start the same thread. The callers of one hold the pool's lock, the caller of the
// other one does not.
#include <pthread.h>

struct pool {
    int size;
    pthread_mutex_t lock;
    int workers;
};

extern struct pool *find_pool(void);
extern int next_request(void);

static void *work(void *arg)
{
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    p->workers--; // expect: data-race #1
    pthread_mutex_unlock(&p->lock);
    return 0;
}

static void add_worker(struct pool *p)
{
    pthread_t id;
    if (pthread_create(&id, 0, work, p) == 0) {
        pthread_detach(id);
        p->workers++;
    }
}

static void add_first(struct pool *p)
{
    pthread_t id;
    if (pthread_create(&id, 0, work, p) == 0) {
        pthread_detach(id);
        p->workers++; // expect: data-race #1
    }
}

static void on_request(struct pool *p, int kind)
{
    pthread_mutex_lock(&p->lock);
    if (kind == 7)
        add_worker(p);
    pthread_mutex_unlock(&p->lock);
}

static void on_open(struct pool *p, int kind)
{
    if (kind == 8)
        add_first(p);
}

static const int never = 0;

int main(void)
{
    if (never) {
        on_request(find_pool(), next_request());
        on_open(find_pool(), next_request());
    }
    return 0;
}
