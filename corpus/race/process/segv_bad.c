// A race, then a null pointer is written to: the finding survives the crash and the target still dies of SIGSEGV.
//@ exit: 139
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    shared = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    *(volatile int *)0 = 1;
    return 0;
}
