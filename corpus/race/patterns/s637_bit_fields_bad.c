// 6.3.7, adjacent bit fields share a byte: `x.a++` also rewrites b. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct { int a : 4, b : 4; } x;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    x.a++;                                              // expect: data-race write #1 | read #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    x.b++;                                              // expect: data-race write #1 | read #1
    return arg;
}

int main(void) {
    x.a = x.b = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
