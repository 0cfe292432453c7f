// expect: assertion
//@ bound: 0
// An exit handler changes a variable that a thread still reads while the process ends.
// Fails when: the thread reads after the handler has run, and before the process has ended.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int closed;

static void closes(void)
{
    closed = 1;
}

static void *reads(void *p)
{
    assert(!closed);
    return p;
}

int main(void)
{
    pthread_t thread;
    atexit(closes);
    pthread_create(&thread, 0, reads, 0);
    pthread_detach(thread);
    return 0;
}
