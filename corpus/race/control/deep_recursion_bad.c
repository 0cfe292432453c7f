// A race ten thousand calls deep. Every mode reports; the stack may be cut in the middle, its innermost frame may not.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long shared;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) static long dive(long depth, long value) {
    if (depth == 0) {
        shared = value;                                 // expect: data-race write write #1
        return value;
    }
    return dive(depth - 1, value) + 1;
}

void *first(void *arg) {
    dive(10000, 1);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    dive(10000, 2);
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
