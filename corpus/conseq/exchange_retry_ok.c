// expect: nothing
// A compare-and-exchange with a stale value fails and is tried again. How often it fails depends on
// the order of threads, and no update is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int count, failures;

static void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = count;
        while (!atomic_compare_exchange_weak(&count, &seen, seen + 1))
            failures++;
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("failed exchanges: %d\n", failures);
    return count == 4 ? 0 : 1;
}
