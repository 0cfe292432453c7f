// What a thread does before it waits is not ordered before the thread that signals, which does not look whether anybody waits: it could
// have come first. hb is silent in this run, hybrid and fast report.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long config, ready;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *waiter(void *arg) {
    config = 1;                                         // expect(hybrid fast): data-race write #1
    pthread_mutex_lock(&mu);
    while (!ready) {
        atomic_store_explicit(&step, 1, memory_order_relaxed);
        pthread_cond_wait(&cv, &mu);
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

void *signaller(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
    return (char *)arg + config;                        // expect(hybrid fast): data-race read #1
}

int main(void) {
    config = ready = 0;
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, signaller, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
