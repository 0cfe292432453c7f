// The caller holds one lock of an array, the thread another one.
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int workers;
extern int next_request(void);

static void *work(void *arg)
{
    pthread_mutex_lock(&locks[1]);
    workers--; // expect: data-race #1
    pthread_mutex_unlock(&locks[1]);
    return 0;
}

static void add_worker(int kind)
{
    pthread_t id;
    if (kind == 7 && pthread_create(&id, 0, work, 0) == 0) {
        pthread_detach(id);
        workers++; // expect: data-race #1
    }
}

static void on_request(int kind)
{
    pthread_mutex_lock(&locks[0]);
    add_worker(kind);
    pthread_mutex_unlock(&locks[0]);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
