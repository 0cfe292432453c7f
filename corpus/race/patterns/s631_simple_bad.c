// 6.3.1, simple race: two threads change a variable of a built-in type without any synchronisation.
// No arc, no lock: every mode reports. main writes `v` first, so fast watches both threads.
//@ golden
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int v;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    v = 1;                                              // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    v = 2;                                              // expect: data-race write #1
    return arg;
}

int main(void) {
    v = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
