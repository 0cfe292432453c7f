// `serve` starts a thread and releases the lock that its caller has taken. It is reached only by a
// start in the middle.
#include <pthread.h>

extern int next_request(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *work(void *arg)
{
    return arg;
}

static void serve(int kind)
{
    pthread_t id;
    if (kind == 7 && pthread_create(&id, 0, work, 0) == 0)
        pthread_detach(id);
    served++;
    pthread_mutex_unlock(&lock);
}

static const int never = 0;

int main(void)
{
    if (never) {
        pthread_mutex_lock(&lock);
        serve(next_request());
    }
    return 0;
}
