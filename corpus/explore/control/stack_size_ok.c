// expect: nothing
// A thread that asks for a large stack gets it, and uses it.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

__attribute__((noinline)) static int deep(int levels, volatile char *above)
{
    volatile char room[1 << 16];
    room[0] = above ? above[0] : 1;
    if (levels == 0) return room[0];
    return deep(levels - 1, room) + room[0];
}

static void *work(void *levels)
{
    assert(deep(*(int *)levels, 0) == *(int *)levels + 1);
    pthread_mutex_lock(&mutex);
    done++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void)
{
    int few = 16, many = 3000;
    pthread_attr_t large;
    pthread_t a, b;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 256 << 20);
    pthread_create(&a, &large, work, &many);
    pthread_create(&b, 0, work, &few);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return done - 2;
}
