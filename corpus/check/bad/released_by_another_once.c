// One thread releases a mutex that another holds. Only that release is wrong: the owner's own is
// not.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *owner(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_barrier_init(&both, 0, 2);
    if (pthread_create(&id, 0, owner, 0) != 0)
        return 1;
    pthread_barrier_wait(&both);
    pthread_mutex_unlock(&lock); // expect: unlock-not-held #1
    pthread_barrier_wait(&both);
    pthread_join(id, 0);
    return 0;
}
