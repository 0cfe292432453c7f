// expect: starvation
//@ bound: 0
//@ monitors: spin
// A spin loop that does not yield: it ends under a fair scheduler, but breaks the good-Samaritan rule (5.4.2 of the paper).
// Fails when: the spinner runs before the setter: it burns its time slice for nothing.
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;

void *spinner(void *arg) {
    while (!atomic_load(&ready)) {                      // expect: starvation here
    }
    return arg;
}

void *setter(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, spinner, 0);
    pthread_create(&b, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
