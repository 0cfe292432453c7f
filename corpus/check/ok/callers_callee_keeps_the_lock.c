// The right twin of callers_callee_released_the_lock.c.
#include <pthread.h>

extern int next_request(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int workers, requests;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    workers--;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void add_worker(int kind)
{
    pthread_t id;
    if (kind != 7)
        return;
    if (pthread_create(&id, 0, work, 0) == 0) {
        pthread_detach(id);
        workers++;
    }
}

static void count(void)
{
    pthread_mutex_lock(&stats_lock);
    requests++;
    pthread_mutex_unlock(&stats_lock);
}

static void on_request(int kind)
{
    pthread_mutex_lock(&lock);
    count();
    add_worker(kind);
    pthread_mutex_unlock(&lock);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
