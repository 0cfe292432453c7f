// read(2) stores into a buffer that another thread looks at without any order: the kernel's store counts as a write of the
// caller, at the line of the call. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int fds[2];
char buffer[64];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *filler(void *arg) {
    if (read(fds[0], buffer, 5) != 5) abort();          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *looker(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + buffer[2];                     // expect: data-race read #1
}

int main(void) {
    buffer[2] = 0;
    if (pipe(fds) != 0 || write(fds[1], "hello", 5) != 5) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, filler, 0);
    pthread_create(&b, 0, looker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
