// expect: nothing
// Two threads end the process with the same status, one perhaps when the other has run all exit
// handlers but has not left yet.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int handlers;

static void counts(void)
{
    pthread_mutex_lock(&lock);
    if (++handlers > 1)
        abort();
    pthread_mutex_unlock(&lock);
}

static void *exits(void *p)
{
    (void)p;
    exit(0);
}

int main(void)
{
    pthread_t thread;
    atexit(counts);
    pthread_create(&thread, 0, exits, 0);
    exit(0);
}
