// expect: nothing
// A wait of ten seconds for what another thread is about to do: it gives up only if that thread takes so long.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *work(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    struct timespec until;
    pthread_t thread;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_create(&thread, NULL, work, NULL);
    if (pthread_rwlock_timedrdlock(&lock, &until) != 0) abort();
    pthread_rwlock_unlock(&lock);
    pthread_mutex_lock(&mutex);
    while (!ready)
        if (pthread_cond_timedwait(&changed, &mutex, &until) != 0) abort();
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
