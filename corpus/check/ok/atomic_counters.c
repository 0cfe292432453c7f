// Relaxed counters are no race, whatever their type.
#include <pthread.h>
#include <stdatomic.h>

static atomic_long hits;
static _Atomic unsigned char small;
static long old_style;

static void *worker(void *arg) {
    for (int i = 0; i < 10; i++) {
        atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
        small++;
        __sync_fetch_and_add(&old_style, 2);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    long seen = atomic_load(&hits) + __atomic_load_n(&old_style, __ATOMIC_RELAXED);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return (int)(seen + old_style);
}
