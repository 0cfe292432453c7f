// 4.3, history 2: a segment for each access, so the earlier access's line is exact even where many accesses to the
// same variable sit in one straight run of code: the last write of `first` is the one that is still unordered.
//@ run: --history 2
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

volatile int var;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;
    var = 2;
    var = 3;                                            // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    var = 4;                                            // expect: data-race write #1
    return arg;
}

int main(void) {
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
