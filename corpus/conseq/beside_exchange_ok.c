// expect: nothing
// One thread adds, and nobody else changes the count: the other thread's compare-and-exchange never
// finds what it looks for. What it finds depends on the order of threads, and no update is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int count;

static void *compares(void *arg) {
    int seen = 100;
    if (!atomic_compare_exchange_strong(&count, &seen, 0))
        printf("not yet 100: %d\n", seen);
    return arg;
}

static void *stores(void *arg) {
    for (int i = 0; i < 3; i++) {
        int seen = count;
        atomic_store(&count, seen + 1);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, stores, 0);
    pthread_create(&b, 0, compares, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return count == 3 ? 0 : 1;
}
