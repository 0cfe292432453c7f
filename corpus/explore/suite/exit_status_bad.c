// expect: exit-status
//@ bound: 1
// A test that reports by its exit status: the sum of two unlocked additions of several steps.
// Fails when: one addition falls into the middle of the other; the program says so with status 3.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int total;

void *add(void *arg) {
    int before = atomic_load(&total);
    atomic_store(&total, before + (int)(intptr_t)arg);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, (void *)1);
    pthread_create(&b, 0, add, (void *)10);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return atomic_load(&total) == 11 ? 0 : 3;
}
