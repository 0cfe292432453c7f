// A race hidden by an unrelated critical section: both threads use a log under its lock, which happens to order this run.
// Nothing would stop the second from coming first. hb is silent every time, hybrid and fast report every time.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long balance, log_lines;
pthread_mutex_t log_mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void log_line(void) {
    pthread_mutex_lock(&log_mu);
    log_lines++;
    pthread_mutex_unlock(&log_mu);
}

void *first(void *arg) {
    balance = 1;                                        // expect(hybrid fast): data-race write #1
    log_line();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    log_line();
    balance = 2;                                        // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    balance = log_lines = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
