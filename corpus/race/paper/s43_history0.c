// 4.3, history 0: segments begin only at synchronisation, "the contexts of the previous accesses are not printed".
// The race is found all the same, in every mode; the earlier end comes without a stack, which matches any mark.
//@ run: --history 0
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int var;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;                                            // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    var = 2;                                            // expect: data-race write #1
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
