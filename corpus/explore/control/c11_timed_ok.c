// expect: nothing
// The timed operations of C11: mtx_timedlock and cnd_timedwait succeed or say thrd_timedout, and thrd_sleep sleeps.
#include <assert.h>
#include <threads.h>
#include <time.h>

mtx_t mu;
cnd_t changed;
int ready;

int setter(void *arg) {
    (void)arg;
    thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    mtx_lock(&mu);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&mu);
    return 0;
}

int main(void) {
    mtx_init(&mu, mtx_timed);
    cnd_init(&changed);
    thrd_t t;
    thrd_create(&t, setter, 0);
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += 5;
    int status = mtx_timedlock(&mu, &until);
    assert(status == thrd_success || status == thrd_timedout);
    if (status == thrd_success) {
        while (!ready && status == thrd_success) status = cnd_timedwait(&changed, &mu, &until);
        assert(ready || status == thrd_timedout);
        mtx_unlock(&mu);
    }
    thrd_join(t, 0);
    assert(ready);
    return 0;
}
