// The release fence is missing.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *producer(void *arg) {
    data = 42; // expect: data-race write #1
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *consumer(void *arg) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    return (void *)(long)data; // expect: data-race read #1
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
