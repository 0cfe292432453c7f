// expect: assertion
//@ bound: 0
// A handler of `quick_exit` requires a count that a thread may not have reached.
// Fails when: the process ends before the thread has begun.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void requires(void)
{
    pthread_mutex_lock(&lock);
    assert(count == 1); // expect: assertion here
    pthread_mutex_unlock(&lock);
}

static void *counts(void *p)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t thread;
    at_quick_exit(requires);
    pthread_create(&thread, 0, counts, 0);
    quick_exit(0);
}
