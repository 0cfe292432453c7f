// The only caller takes the lock by a function of its own.
#include <pthread.h>

extern int next_request(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int workers;

static void enter(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    enter();
    workers--;
    leave();
    return 0;
}

static void add_worker(int kind)
{
    pthread_t id;
    if (kind == 7 && pthread_create(&id, 0, work, 0) == 0) {
        pthread_detach(id);
        workers++;
    }
}

static void on_request(int kind)
{
    enter();
    add_worker(kind);
    leave();
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
