// expect: nothing
// The threads of C11: thrd, mtx, cnd, tss with destructor, call_once.
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <threads.h>

mtx_t mu;
cnd_t changed;
tss_t slot;
once_flag flag = ONCE_FLAG_INIT;
int ready, begun;
atomic_int destroyed;

static void destroy(void *value) {
    (void)value;
    atomic_fetch_add(&destroyed, 1);
}

static void begin(void) {
    begun++;
}

int waiter(void *arg) {
    (void)arg;
    call_once(&flag, begin);
    tss_set(slot, &slot);
    mtx_lock(&mu);
    while (!ready) cnd_wait(&changed, &mu);
    mtx_unlock(&mu);
    return 11;
}

int setter(void *arg) {
    (void)arg;
    call_once(&flag, begin);
    thrd_yield();
    mtx_lock(&mu);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&mu);
    thrd_exit(12);
}

int main(void) {
    thrd_t a, b;
    int first, second;
    assert(mtx_init(&mu, mtx_plain) == thrd_success && cnd_init(&changed) == thrd_success);
    assert(tss_create(&slot, destroy) == thrd_success);
    assert(thrd_create(&a, waiter, 0) == thrd_success);
    assert(thrd_create(&b, setter, 0) == thrd_success);
    assert(thrd_join(a, &first) == thrd_success && first == 11);
    assert(thrd_join(b, &second) == thrd_success && second == 12);
    assert(begun == 1 && destroyed == 1);
    return 0;
}
