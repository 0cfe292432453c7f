// expect: deadlock
//@ bound: 1
// Two C11 mutexes in opposite order.
// Fails when: each thread holds its first and waits for its second.
#include <threads.h>

mtx_t left, right;

int lefty(void *arg) {
    (void)arg;
    mtx_lock(&left);
    mtx_lock(&right);                                   // expect: deadlock here
    mtx_unlock(&right);
    mtx_unlock(&left);
    return 0;
}

int righty(void *arg) {
    (void)arg;
    mtx_lock(&right);
    mtx_lock(&left);                                    // expect: deadlock here
    mtx_unlock(&left);
    mtx_unlock(&right);
    return 0;
}

int main(void) {
    mtx_init(&left, mtx_plain);
    mtx_init(&right, mtx_plain);
    thrd_t a, b;
    thrd_create(&a, lefty, 0);
    thrd_create(&b, righty, 0);
    thrd_join(a, 0);                                    // expect: deadlock here
    thrd_join(b, 0);                                    // expect: deadlock here
    return 0;
}
