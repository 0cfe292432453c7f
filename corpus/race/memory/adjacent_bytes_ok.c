// Neighbouring bytes, half words and the two parts of an unaligned word's surroundings: no common byte, no race. Silent in
// every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct __attribute__((packed)) mixed { char a; short b; char c; int d; char e[8]; };
union { struct mixed m; char bytes[16]; } both;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    for (int i = 0; i < 500; i++) both.m.b++, both.m.d++, both.bytes[9]++;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    for (int i = 0; i < 500; i++) both.m.a++, both.m.c++, both.bytes[8]++, both.bytes[10]++;
    return arg;
}

int main(void) {
    for (int i = 0; i < 16; i++) both.bytes[i] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
