// As released_for_caller.c, but the caller takes the lock by a function that may fail.
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

static int begin(void)
{
    pthread_mutex_lock(&lock);
    if (served > 100) {
        pthread_mutex_unlock(&lock);
        return 1;
    }
    return 0;
}

static const int never = 0;

int main(void)
{
    if (never && begin() == 0)
        serve(next_request());
    return 0;
}
