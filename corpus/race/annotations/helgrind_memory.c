// helgrind.h's CLEAN_MEMORY (forget all that was) and DISABLE_CHECKING (do not look): silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

long recycled, unchecked;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    recycled = 1;
    unchecked = 1;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    VALGRIND_HG_CLEAN_MEMORY(&recycled, sizeof recycled);
    recycled = 2;
    unchecked = 2;
    return arg;
}

int main(void) {
    recycled = 0;
    VALGRIND_HG_DISABLE_CHECKING(&unchecked, sizeof unchecked);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
