// A word that crosses two granules, by the functions of the sanitizers' header.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

uint64_t __sanitizer_unaligned_load64(const void *);
void __sanitizer_unaligned_store64(void *, uint64_t);
_Alignas(16) char bytes[32];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    __sanitizer_unaligned_store64(bytes + 5, 1);        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return (void *)__sanitizer_unaligned_load64(bytes + 11); // expect: data-race read #1
}

int main(void) {
    bytes[5] = bytes[11] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
