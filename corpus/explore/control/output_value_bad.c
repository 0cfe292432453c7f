// expect: non-determinism
//@ monitors: output
//@ bound: 1
// A lost update that nothing checks: it shows in what is printed, which the C library keeps back until the very end.
// Fails when: both load the counter before either stores it: 1 is printed, not 2.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

atomic_int counter;

void *adds(void *arg) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d", atomic_load(&counter));
    return 0;
}
