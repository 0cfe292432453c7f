// A `struct talk` belongs to one thread, and only looks like a `struct pool`.
#include <pthread.h>

struct pool {
    int n, limit;
};

struct talk {
    int n, limit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool pool;
static struct talk mine;

int next_job(void);

static void put(void) {
    pthread_mutex_lock(&lock);
    pool.n++;
    pthread_mutex_unlock(&lock);
}

static void take(void) {
    pthread_mutex_lock(&lock);
    pool.n--;
    pthread_mutex_unlock(&lock);
}

static void count(struct talk *t) {
    t->n++;
}

static void *talk(void *arg) {
    while (next_job())
        count(&mine);
    return arg;
}

static void *work(void *arg) {
    while (next_job()) {
        put();
        take();
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, talk, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
