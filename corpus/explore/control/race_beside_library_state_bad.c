// expect: data-race
//@ monitors: race
// Two threads call functions that keep state in the C library, in an order that a relaxed flag fixes.
// That orders nothing else, so `shared` races.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int flag;
static int shared;

static void *writes(void *arg) {
    shared = 1;
    getenv("A");
    rand();
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *reads(void *arg) {
    if (!atomic_load_explicit(&flag, memory_order_relaxed)) return arg;
    getenv("B");
    rand();
    return shared == 1 ? arg : &shared;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writes, 0);
    pthread_create(&b, 0, reads, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
