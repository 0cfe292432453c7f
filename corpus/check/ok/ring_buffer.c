// One producer, one consumer, two atomic indices.
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 4
static int ring[SIZE];
static atomic_uint head, tail;

static void *producer(void *arg) {
    for (int i = 0; i < 8; i++) {
        while (atomic_load_explicit(&head, memory_order_relaxed) - atomic_load_explicit(&tail, memory_order_acquire) == SIZE)
            ;
        ring[head % SIZE] = i;
        atomic_fetch_add_explicit(&head, 1, memory_order_release);
    }
    return NULL;
}

static void *consumer(void *arg) {
    long sum = 0;
    for (int i = 0; i < 8; i++) {
        while (atomic_load_explicit(&head, memory_order_acquire) == atomic_load_explicit(&tail, memory_order_relaxed))
            ;
        sum += ring[tail % SIZE];
        atomic_fetch_add_explicit(&tail, 1, memory_order_release);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
