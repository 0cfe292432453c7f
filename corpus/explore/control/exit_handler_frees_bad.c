// expect: use-after-free
//@ bound: 1
// An exit handler frees what a thread still uses under a lock.
// Fails when: the thread uses it after the handler has run, and before the process has ended.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *value;

static void frees(void)
{
    free(value);
}

static void *uses(void *p)
{
    pthread_mutex_lock(&lock);
    ++*value; // expect: use-after-free here
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t thread;
    value = calloc(1, sizeof *value);
    atexit(frees);
    pthread_create(&thread, 0, uses, 0);
    pthread_detach(thread);
    return 0;
}
