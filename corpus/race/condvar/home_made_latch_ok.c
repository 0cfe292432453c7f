// A latch made of a mutex and a condition variable. Main waits for all, and only the last signals; the first is through before main
// waits, so that the mutex did not go with a condition variable yet.
// expect(hb hybrid): nothing
// expect(fast): anything
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long left = 3;
long results[3];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void await(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void count_down(void) {
    pthread_mutex_lock(&mu);
    if (--left == 0) pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
}

void *worker(void *arg) {
    long n = (long)arg;
    if (n > 0) await(2); // main is about to wait
    results[n] = n + 1;
    count_down();
    if (n == 0) atomic_store_explicit(&step, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, (void *)i);
    await(1);
    pthread_mutex_lock(&mu);
    while (left > 0) {
        atomic_store_explicit(&step, 2, memory_order_relaxed);
        pthread_cond_wait(&cv, &mu);
    }
    pthread_mutex_unlock(&mu);
    long sum = results[0] + results[1] + results[2];
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return sum == 6 ? 0 : 1;
}
