// expect: nothing
// The same with a comparison, tried again until nobody was in between. Which sums a thread finds
// on its way depends on the order of threads, and none is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long total;
static atomic_int attempts;

static void *deposit(void *arg) {
    for (int i = 0; i < 2; i++) {
        long before;
        do {
            before = atomic_load(&total);
            atomic_fetch_add(&attempts, 1);
        } while (!atomic_compare_exchange_strong(&total, &before, before + 10));
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, deposit, 0);
    pthread_create(&two, 0, deposit, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("total: %ld after %d attempts\n", atomic_load(&total), atomic_load(&attempts));
    return 0;
}
