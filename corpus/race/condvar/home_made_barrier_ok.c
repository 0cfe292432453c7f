// A barrier made of a mutex and a condition variable. The last to arrive never waits, as in 6.4.1, but takes the mutex where the other
// took it to wait.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long arrived;
long data;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void barrier(void) {
    pthread_mutex_lock(&mu);
    if (++arrived == 2) pthread_cond_broadcast(&cv);
    while (arrived < 2) {
        atomic_store_explicit(&step, 1, memory_order_relaxed);
        pthread_cond_wait(&cv, &mu);
    }
    pthread_mutex_unlock(&mu);
}

void *early(void *arg) {
    data = 1;
    barrier(); // waits
    return arg;
}

void *late(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    barrier(); // does not wait
    return (char *)arg + data;
}

int main(void) {
    data = arrived = 0;
    pthread_t a, b;
    pthread_create(&a, 0, early, 0);
    pthread_create(&b, 0, late, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
