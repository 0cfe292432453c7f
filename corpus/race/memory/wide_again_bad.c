// An access of 16 bytes after narrower or weaker ones of the same thread: what is recorded already does not stand for all of
// it. The second half was not accessed before; a read is no write; the address is no multiple of 8. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <emmintrin.h>

_Alignas(16) volatile long halves[2];
_Alignas(16) volatile long raised[2];
_Alignas(16) volatile int apart[8];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
volatile int sink;

void *first(void *arg) {
    __m128i ones = _mm_set1_epi32(1);
    halves[0] = 1;
    _mm_store_si128((__m128i *)halves, ones);           // expect: data-race write #1
    __m128i seen = _mm_load_si128((__m128i *)raised);
    sink = _mm_cvtsi128_si32(seen);
    _mm_store_si128((__m128i *)raised, ones);           // expect: data-race write #2
    apart[1] = apart[2] = apart[3] = 1;
    _mm_storeu_si128((__m128i *)&apart[1], ones);       // expect: data-race write #3
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    arg = (char *)arg + halves[1];                      // expect: data-race read #1
    arg = (char *)arg + raised[1];                      // expect: data-race read #2
    arg = (char *)arg + apart[4];                       // expect: data-race read #3
    return arg;
}

int main(void) {
    halves[0] = halves[1] = raised[0] = raised[1] = 0;
    for (int i = 0; i < 8; i++) apart[i] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
