// expect: nothing
// One thread counts its steps. The other reads the count by an exchange of 0 for 0, which changes
// nothing, and prints in some orders only. No update is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int steps, begun;

static void *works(void *arg) {
    for (int i = 0; i < 3; i++) {
        int seen = atomic_load(&steps);
        atomic_store(&begun, i + 1);
        atomic_store(&steps, seen + 1);
    }
    return arg;
}

static void *watches(void *arg) {
    int now = atomic_load(&begun), done = 0;
    atomic_compare_exchange_strong(&steps, &done, 0);
    if (now == 1 && done == 0)
        printf("the first step is under way\n");
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, watches, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return steps == 3 ? 0 : 1;
}
