// expect: assertion
//@ bound: 0
// The first thread ends by `pthread_exit`, and the last thread runs the exit handlers.
// Fails when: the thread that says who was last is not the last one.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last;

static void requires(void)
{
    assert(last == 2); // expect: assertion here
}

static void *ends(void *number)
{
    pthread_mutex_lock(&lock);
    last = *(int *)number;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    static int numbers[] = {1, 2};
    pthread_t threads[2];
    atexit(requires);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, ends, &numbers[i]);
    pthread_exit(0);
}
