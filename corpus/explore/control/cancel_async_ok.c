// expect: nothing
// A thread that comes by no cancellation point ends all the same when it may be ended at any moment, and not while it may not.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static int safe;

static void *runs(void *arg) {
    int before;
    assert(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0 && before == PTHREAD_CANCEL_DEFERRED);
    assert(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before) == 0 && before == PTHREAD_CANCEL_ASYNCHRONOUS);
    sched_yield();
    safe = 1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    for (;;) sched_yield();
    return arg;
}

int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, runs, 0);
    sched_yield();
    assert(pthread_cancel(t) == 0);
    assert(pthread_join(t, &result) == 0);
    assert(result == PTHREAD_CANCELED);
    return 0;
}
