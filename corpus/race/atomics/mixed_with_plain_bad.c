// An atomic object that one thread accesses by a plain store through a pointer: an atomic and a non-atomic access conflict like
// two plain ones. Every mode reports both: a plain write against an atomic read, a plain read against an atomic write.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long first_word, second_word; // __atomic builtins work on plain objects
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *plain(void *arg) {
    first_word = 1;                                     // expect: data-race write #1
    arg = (char *)arg + second_word;                    // expect: data-race read #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *atomic(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    long seen = __atomic_load_n(&first_word, __ATOMIC_SEQ_CST); // expect: data-race atomic-read #1
    __atomic_store_n(&second_word, seen, __ATOMIC_SEQ_CST); // expect: data-race atomic-write #2
    return arg;
}

int main(void) {
    first_word = second_word = 0;
    pthread_t a, b;
    pthread_create(&a, 0, plain, 0);
    pthread_create(&b, 0, atomic, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
