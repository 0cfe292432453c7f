// A relaxed read-modify-write in between keeps what was released before it.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int state;

static void *producer(void *arg) {
    data = 42;
    atomic_store_explicit(&state, 1, memory_order_release);
    return NULL;
}

static void *middle(void *arg) {
    int one = 1;
    while (!atomic_compare_exchange_weak_explicit(&state, &one, 2, memory_order_relaxed, memory_order_relaxed))
        one = 1;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, middle, NULL);
    while (atomic_load_explicit(&state, memory_order_acquire) != 2)
        ;
    int d = data;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return d;
}
