// The only caller takes the lock, but a function that it calls next releases it.
#include <pthread.h>

extern int next_request(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int workers, requests;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    workers--; // expect: data-race #1
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
        workers++; // expect: data-race #1
    }
}

static void finish(void)
{
    pthread_mutex_lock(&stats_lock);
    requests++;
    pthread_mutex_unlock(&stats_lock);
    pthread_mutex_unlock(&lock);
}

static void on_request(int kind)
{
    pthread_mutex_lock(&lock);
    finish();
    add_worker(kind);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
