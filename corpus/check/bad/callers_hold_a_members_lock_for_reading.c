// The callers and the thread hold the same lock, all of them for reading, and write.
#include <pthread.h>

struct pool {
    int size;
    pthread_rwlock_t lock;
    int workers;
};

extern struct pool *find_pool(void);
extern int next_request(void);

static void *work(void *arg)
{
    struct pool *p = arg;
    pthread_rwlock_rdlock(&p->lock);
    p->workers--; // expect: data-race #1
    pthread_rwlock_unlock(&p->lock);
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

static void on_request(struct pool *p, int kind)
{
    pthread_rwlock_rdlock(&p->lock);
    add_worker(p, kind);
    pthread_rwlock_unlock(&p->lock);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(find_pool(), next_request());
    return 0;
}
