// A wait that timed out has seen no signal: what the other thread does without the mutex is not ordered. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
int result;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *worker(void *arg) {
    pthread_cond_signal(&cv); // nobody waits yet
    result = 42;                                        // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *waiter(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    struct timespec past = {1, 0};
    pthread_mutex_lock(&mu);
    pthread_cond_timedwait(&cv, &mu, &past);
    pthread_mutex_unlock(&mu);
    return (char *)arg + result;                        // expect: data-race read #1
}

int main(void) {
    result = 0;
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
