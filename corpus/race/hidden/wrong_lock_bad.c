// The wrong lock, hidden: one access under mu1, the other under mu2, and both threads also pass through mu3 in between. hb is
// silent in this run, hybrid and fast report, with the locks of each end.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data, other;
pthread_mutex_t mu1 = PTHREAD_MUTEX_INITIALIZER, mu2 = PTHREAD_MUTEX_INITIALIZER, mu3 = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    pthread_mutex_lock(&mu1);
    data = 1;                                           // expect(hybrid fast): data-race write #1
    pthread_mutex_unlock(&mu1);
    pthread_mutex_lock(&mu3);
    other++;
    pthread_mutex_unlock(&mu3);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu3);
    other++;
    pthread_mutex_unlock(&mu3);
    pthread_mutex_lock(&mu2);
    data = 2;                                           // expect(hybrid fast): data-race write #1
    pthread_mutex_unlock(&mu2);
    return arg;
}

int main(void) {
    data = other = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
