// A sixteen-byte atomic store against a plain read of its upper half. Every mode reports: all sixteen bytes count.
//@ flags: -O1 -mcx16
//@ libs: -latomic
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

union { unsigned __int128 whole; long half[2]; } word;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *atomic(void *arg) {
    __atomic_store_n(&word.whole, 1, __ATOMIC_RELEASE); // expect: data-race atomic-write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *plain(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (char *)arg + word.half[1];                  // expect: data-race read #1
}

int main(void) {
    word.half[0] = word.half[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, atomic, 0);
    pthread_create(&b, 0, plain, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
