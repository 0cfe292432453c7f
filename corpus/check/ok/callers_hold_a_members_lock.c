// `spawn` is a start in the middle, since nobody here calls `get_ready`. All of its callers hold the
// lock of the pool.
#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    int total;
};

static int is_ready;

void get_ready(void) {
    is_ready = 1;
}

struct pool *find_pool(int);
int next_job(void);

static void *work(void *arg);

static void spawn(struct pool *p) {
    pthread_t t;
    if (pthread_create(&t, NULL, work, p) != 0)
        return;
    p->total++;
}

static void *work(void *arg) {
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    p->total--;
    if (next_job() > 0)
        spawn(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void serve(struct pool *p) {
    pthread_mutex_lock(&p->lock);
    spawn(p);
    pthread_mutex_unlock(&p->lock);
}

int main(int argc, char **argv) {
    if (is_ready)
        serve(find_pool(argc));
    return 0;
}
