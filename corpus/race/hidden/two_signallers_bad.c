// A third thread waits for both. The two that count up under its mutex wait for nobody: the mutex orders them in this run only. hb is
// silent, hybrid and fast report.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data, events;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void await(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void count(void) {
    pthread_mutex_lock(&mu);
    events++;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
}

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    while (events < 2) {
        if (events == 0) atomic_store_explicit(&step, 1, memory_order_relaxed);
        pthread_cond_wait(&cv, &mu);
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

void *first(void *arg) {
    await(1);
    data = 1;                                           // expect(hybrid fast): data-race write #1
    count();
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    await(2);
    count();
    data = 2;                                           // expect(hybrid fast): data-race write #1
    atomic_store_explicit(&step, 3, memory_order_relaxed);
    return arg;
}

int main(void) {
    data = events = 0;
    pthread_t a, b, c;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, first, 0);
    pthread_create(&c, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
