// expect(sc c11): nothing
// The entry of Dekker's algorithm with seq_cst accesses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int interested[2], inside;
#define ORDER memory_order_seq_cst

static void set(atomic_int *where, int value) {
    atomic_store_explicit(where, value, ORDER);
}

static int get(atomic_int *where) {
    return atomic_load_explicit(where, ORDER);
}

void *contender(void *arg) {
    int self = (intptr_t)arg, other = 1 - self;
    set(&interested[self], 1);
    if (get(&interested[other])) { // give way, once
        set(&interested[self], 0);
        return arg;
    }
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    set(&interested[self], 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, contender, (void *)0);
    pthread_create(&b, 0, contender, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
