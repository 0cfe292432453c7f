// expect: nothing
// Two consumers and two producers: a broadcast wakes both consumers, and one of them waits again.
#include <assert.h>
#include <threads.h>

mtx_t mu;
cnd_t filled;
int n;

int consumer(void *arg) {
    (void)arg;
    mtx_lock(&mu);
    while (n == 0) cnd_wait(&filled, &mu);
    assert(n > 0);
    n--;
    mtx_unlock(&mu);
    return 0;
}

int producer(void *arg) {
    (void)arg;
    mtx_lock(&mu);
    n++;
    cnd_broadcast(&filled);
    mtx_unlock(&mu);
    return 0;
}

int main(void) {
    mtx_init(&mu, mtx_plain);
    cnd_init(&filled);
    thrd_t a, b, c, d;
    thrd_create(&a, consumer, 0);
    thrd_create(&b, consumer, 0);
    thrd_create(&c, producer, 0);
    thrd_create(&d, producer, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    thrd_join(c, 0);
    thrd_join(d, 0);
    return 0;
}
