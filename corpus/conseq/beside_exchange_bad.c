// expect: output
// One thread adds by compare-and-exchange. The other adds by a load and a store, and loses what the
// first has added in between.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int count;

static void *compares(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = count;
        while (!atomic_compare_exchange_weak(&count, &seen, seen + 1))
            ;
    }
    return arg;
}

static void *stores(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = count;
        atomic_store(&count, seen + 1);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, compares, 0);
    pthread_create(&b, 0, stores, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("count: %d\n", count);
    return 0;
}
