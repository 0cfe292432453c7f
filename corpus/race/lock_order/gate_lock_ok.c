// Opposite orders under a gate lock: whoever takes a and b in either order holds `gate`, so there can be no deadlock. Silent in
// every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t a_mu = PTHREAD_MUTEX_INITIALIZER, b_mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&a_mu);
    pthread_mutex_lock(&b_mu);
    pthread_mutex_unlock(&b_mu);
    pthread_mutex_unlock(&a_mu);
    pthread_mutex_unlock(&gate);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&b_mu);
    pthread_mutex_lock(&a_mu);
    pthread_mutex_unlock(&a_mu);
    pthread_mutex_unlock(&b_mu);
    pthread_mutex_unlock(&gate);
    return arg;
}

int main(void) {

    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
