// expect: nothing
// A handler of `quick_exit` sees what the joined thread has done, and a handler of `exit` does not
// run.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int count;

static void requires(void)
{
    assert(count == 1);
}

static void never_runs(void)
{
    abort();
}

static void *counts(void *p)
{
    count++;
    return p;
}

int main(void)
{
    pthread_t thread;
    at_quick_exit(requires);
    atexit(never_runs);
    pthread_create(&thread, 0, counts, 0);
    pthread_join(thread, 0);
    quick_exit(0);
}
