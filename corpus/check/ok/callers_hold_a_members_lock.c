// Both callers of `add_worker` hold the lock of the pool that they pass on, under which the thread
// counts. One takes it by a macro that checks the result. Neither is reached by a run of `main`.
#include <pthread.h>
#include <stdlib.h>

#define checked(e) do { int result_ = (e); if (result_ != 0) abort(); } while (0)

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
    checked(pthread_mutex_lock(&p->lock));
    p->workers--;
    checked(pthread_mutex_unlock(&p->lock));
    // The lock was free: the creator is done.
    return p->workers > p->size ? arg : 0;
}

static void add_worker(struct pool *p)
{
    pthread_t id;
    if (pthread_create(&id, 0, work, p) == 0) {
        pthread_detach(id);
        p->workers++;
    }
}

static void on_request(struct pool *p, int kind)
{
    checked(pthread_mutex_lock(&p->lock));
    if (kind == 7)
        add_worker(p);
    checked(pthread_mutex_unlock(&p->lock));
}

static void on_timer(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    add_worker(p);
    pthread_mutex_unlock(&p->lock);
}

static const int never = 0;

int main(void)
{
    if (never) {
        on_request(find_pool(), next_request());
        on_timer(find_pool());
    }
    return 0;
}
