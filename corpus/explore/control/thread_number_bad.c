// expect: assertion
//@ bound: 1
// The owner of a lock is noted by its number, and who looks and who notes are not one step.
// Fails when: both see that nobody owns it; the first notes its number, and then the second does.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int owner;

static void *work(void *arg)
{
    if (owner == 0) {
        owner = gettid();
        assert(owner == gettid());                      // expect: assertion here
        owner = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
