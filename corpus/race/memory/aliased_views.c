// Two views of one file or memory object are two addresses: a race by aliasing is not seen by any detector that goes by
// address. Silent in every mode, and the program says so instead of pretending.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

long *view[2];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    *view[0] = 1;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    *view[1] = 2;
    return arg;
}

int main(void) {
    int fd = memfd_create("shared", 0);
    if (ftruncate(fd, 4096) != 0) return 1;
    for (int i = 0; i < 2; i++) view[i] = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
