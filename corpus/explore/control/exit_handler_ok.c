// expect: nothing
// A thread may run until the process ends. The exit handler takes away what it uses, under the lock
// under which the thread looks whether it is still there.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *value;

static void takes_away(void)
{
    pthread_mutex_lock(&lock);
    free(value);
    value = 0;
    pthread_mutex_unlock(&lock);
}

static void *uses(void *p)
{
    pthread_mutex_lock(&lock);
    if (value)
        ++*value;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t thread;
    value = calloc(1, sizeof *value);
    atexit(takes_away);
    pthread_create(&thread, 0, uses, 0);
    pthread_detach(thread);
    return 0;
}
