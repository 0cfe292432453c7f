// The same calls over ranges that touch and do not overlap: to the byte. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

char buffer[64], source[64];
volatile size_t length = 16; // not a constant, so that the call stays a call
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    for (int i = 0; i < 200; i++) {
        memcpy(buffer, source, length + 3);
        memset(buffer, 1, length + 3);
    }
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    for (int i = 0; i < 200; i++) {
        memcpy(buffer + 19, source, length + 3);
        arg = (char *)arg + memcmp(buffer + 19, source + 1, length);
    }
    return arg;
}

int main(void) {
    memset(buffer, 0, sizeof buffer);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
