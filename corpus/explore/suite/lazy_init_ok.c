// expect: nothing
// Double-checked initialisation with an atomic flag that is set last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int initialised;
int value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static int get(void) {
    if (!atomic_load_explicit(&initialised, memory_order_acquire)) {
        pthread_mutex_lock(&mu);
        if (!atomic_load_explicit(&initialised, memory_order_relaxed)) {
            value = 42;
            atomic_store_explicit(&initialised, 1, memory_order_release);
        }
        pthread_mutex_unlock(&mu);
    }
    return value;
}

void *user(void *arg) {
    assert(get() == 42);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
