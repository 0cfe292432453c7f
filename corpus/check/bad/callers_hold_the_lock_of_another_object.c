// The caller holds the lock of one pool and adds a worker to another one of the same type.
#include <pthread.h>

struct pool {
    int size;
    pthread_mutex_t lock;
    int workers;
};

static struct pool readers = {0, PTHREAD_MUTEX_INITIALIZER, 0};
static struct pool writers = {0, PTHREAD_MUTEX_INITIALIZER, 0};
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

static void on_request(int kind)
{
    pthread_mutex_lock(&readers.lock);
    add_worker(&writers, kind);
    pthread_mutex_unlock(&readers.lock);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
