// expect: output
// An exchange writes whatever it replaces, and nobody looks at what that was: a sum that another
// thread has written since it was read is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long total;

static void *deposit(void *arg) {
    for (int i = 0; i < 2; i++) {
        long before = atomic_load(&total);
        atomic_exchange(&total, before + 10);
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, deposit, 0);
    pthread_create(&two, 0, deposit, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("total: %ld\n", atomic_load(&total));
    return 0;
}
