// expect(sc c11): nothing
// Double-checked initialisation with a released and acquired flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int initialised, value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
#define LOAD memory_order_acquire
#define STORE memory_order_release

void *user(void *arg) {
    if (!atomic_load_explicit(&initialised, LOAD)) {
        pthread_mutex_lock(&mu);
        if (!atomic_load_explicit(&initialised, memory_order_relaxed)) {
            atomic_store_explicit(&value, 42, memory_order_relaxed);
            atomic_store_explicit(&initialised, 1, STORE);
        }
        pthread_mutex_unlock(&mu);
    }
    assert(atomic_load_explicit(&value, memory_order_relaxed) == 42);
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
