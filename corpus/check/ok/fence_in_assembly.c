// Relaxed atomics with a fence between them and the data, written in assembly.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *worker(void *arg) {
    data = 1;
    __asm__ __volatile__("mfence" ::: "memory");
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    while (!atomic_load_explicit(&ready, memory_order_relaxed)) {}
    __asm__ __volatile__("mfence" ::: "memory");
    data++;
    pthread_join(t, NULL);
    return data;
}
