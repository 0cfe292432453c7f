// Plain initialisation of an atomic before the threads exist, atomic use meanwhile, plain use after the join; two atomics never
// race, whatever their orders and sizes. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>

struct { long total; int small[2]; } counters;

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(&counters.total, 1, i % 2 ? __ATOMIC_RELAXED : __ATOMIC_SEQ_CST);
        __atomic_fetch_xor(&counters.small[i % 2], 1, __ATOMIC_RELAXED);
        __atomic_load_n((char *)&counters.small[0], __ATOMIC_RELAXED); // a byte of it
    }
    return arg;
}

int main(void) {
    counters.total = 5;
    counters.small[0] = counters.small[1] = 0;
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return counters.total != 4005 || counters.small[0] != 0;
}
