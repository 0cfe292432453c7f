// An access of 16 bytes, an SSE store, is checked over its whole width. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <emmintrin.h>

_Alignas(16) long lanes[2];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    _mm_store_si128((__m128i *)lanes, _mm_set1_epi32(1)); // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    arg = (char *)arg + lanes[1];                       // expect: data-race read #1
    return arg;
}

int main(void) {
    lanes[0] = lanes[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
