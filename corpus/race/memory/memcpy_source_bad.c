// The source of a memcpy and both sides of a memcmp are read, at the line of the call. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

char source[64], other[64], target[64];
volatile size_t length = 16; // not a constant, so that the call stays a call
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    source[10] = 1;                                     // expect: data-race write #1
    other[3] = 0;                                       // expect: data-race write #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    memcpy(target, source, length);                     // expect: data-race read #1
    arg = (char *)arg + memcmp(other, target + 32, length); // expect: data-race read #2
    return arg;
}

int main(void) {
    for (size_t i = 0; i < sizeof source; i++) source[i] = 0; // seen by gcc too, which expands a memset unwatched
    for (size_t i = 0; i < sizeof other; i++) other[i] = 0; // seen by gcc too, which expands a memset unwatched
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
