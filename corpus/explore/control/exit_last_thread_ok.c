// expect: nothing
// The first thread ends by `pthread_exit`, and the last thread runs the exit handlers, after
// everything that the others have done.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int done[2];

static void requires(void)
{
    assert(done[0] && done[1]);
}

static void *does(void *which)
{
    *(int *)which = 1;
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    atexit(requires);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, does, &done[i]);
    pthread_exit(0);
}
