// A long double is ten bytes, an odd size for a probe. Every mode reports. (gcc only: clang's pass leaves x87 accesses alone.)
//@ compilers: gcc
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long double real;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    real = 1.5L;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    real = 2.5L;                                        // expect: data-race write #1
    return arg;
}

int main(void) {
    real = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
