// expect: assertion
//@ bound: 1
// An increment that is a load and a store, both atomic by themselves: no data race, yet an update is lost.
// Fails when: A loads 0; B loads 0 and stores 1; A stores 1.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter;

void *add(void *arg) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);                 // expect: assertion here
    return 0;
}
