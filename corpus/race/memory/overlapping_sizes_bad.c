// Accesses of different sizes that overlap in part: one byte inside a word, an unaligned word across two, the tail of a range.
// A race is a matter of bytes. Every mode reports all three.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct __attribute__((packed)) unaligned { char pad[6]; int value; char rest[6]; };
union { long words[2]; struct unaligned u; char bytes[16]; } one, two, three;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    one.bytes[5] = 1;                                   // expect: data-race write #1
    two.u.value = 1;                                    // expect: data-race write #2
    three.u.value = 1;                                  // expect: data-race write #3
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    one.words[0] = 2;                                   // expect: data-race write #1
    two.words[1] = 2;                                   // expect: data-race write #2
    three.bytes[6] = 2;                                 // expect: data-race write #3
    return arg;
}

int main(void) {
    one.words[0] = one.words[1] = two.words[0] = two.words[1] = three.words[0] = three.words[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
