// C11 mutexes in opposite orders.
#include <threads.h>

static mtx_t x, y;

static int forward(void *arg) {
    mtx_lock(&x);
    mtx_lock(&y); // expect: deadlock #1
    mtx_unlock(&y);
    mtx_unlock(&x);
    return 0;
}

static int backward(void *arg) {
    mtx_lock(&y);
    mtx_lock(&x); // expect: deadlock #1
    mtx_unlock(&x);
    mtx_unlock(&y);
    return 0;
}

int main(void) {
    thrd_t a, b;
    mtx_init(&x, mtx_plain);
    mtx_init(&y, mtx_plain);
    thrd_create(&a, forward, NULL);
    thrd_create(&b, backward, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
