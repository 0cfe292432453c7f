// helgrind.h's semaphore requests: posted by the first thread, waited for by the second. An arc in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "raddle/annotations.h"

int token, var;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    var = 1;
    VALGRIND_HG_SEM_POST_PRE(&token);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    VALGRIND_HG_SEM_WAIT_POST(&token);
    var = 2;
    return arg;
}

int main(void) {
    VALGRIND_HG_SEM_INIT_POST(&token, 0);
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
