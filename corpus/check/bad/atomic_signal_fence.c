// A signal fence orders a thread and its own handler, not two threads.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag;

static void *publisher(void *arg) {
    data = 42; // expect: data-race write #1
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, publisher, NULL);
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        ;
    atomic_signal_fence(memory_order_seq_cst);
    int got = data; // expect: data-race read #1
    pthread_join(t, NULL);
    return got;
}
