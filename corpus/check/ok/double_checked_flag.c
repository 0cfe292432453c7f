// Double-checked initialisation with an atomic flag.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[8];

static void prepare(void) {
    if (atomic_load_explicit(&done, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&done, memory_order_relaxed)) {
        for (int i = 0; i < 8; i++)
            table[i] = i;
        atomic_store_explicit(&done, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    prepare();
    return (void *)(long)table[5];
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
