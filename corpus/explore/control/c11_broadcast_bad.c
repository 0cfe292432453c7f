// expect: assertion
//@ bound: 0
// Two consumers wait without a loop, and a broadcast wakes both for one item. Many ordinary runs fail.
// Fails when: both consumers wait, one item comes, and the second consumer goes on before the second item.
#include <assert.h>
#include <threads.h>

mtx_t mu;
cnd_t filled;
int n;

int consumer(void *arg) {
    (void)arg;
    mtx_lock(&mu);
    if (n == 0) cnd_wait(&filled, &mu); // should be while
    assert(n > 0);                                      // expect: assertion here
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
