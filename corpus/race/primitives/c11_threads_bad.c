// C11 threads: a failed mtx_trylock that is not looked at. Every mode reports.
//@ flags: -O1 -std=c11
#include <stdatomic.h>
#include <threads.h>

long shared;
mtx_t mu;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) thrd_yield();
}

int first(void *arg) {
    mtx_lock(&mu);
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    until(2);
    mtx_unlock(&mu);
    return arg != 0;
}

int second(void *arg) {
    until(1);
    int status = mtx_trylock(&mu);
    shared = 2;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return status == thrd_success && arg != 0;
}

int main(void) {
    mtx_init(&mu, mtx_plain);
    shared = 0;
    thrd_t a, b;
    thrd_create(&a, first, 0);
    thrd_create(&b, second, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    return 0;
}
