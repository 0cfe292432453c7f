// A race hidden by a flag that is handed over under a lock, though nobody waits for it: the second thread looks at the flag and
// goes on either way. hb is silent in this run, hybrid and fast report.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data, flag, missed;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    data = 1;                                           // expect(hybrid fast): data-race write #1
    pthread_mutex_lock(&mu);
    flag = 1;
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    if (!flag) missed++;
    pthread_mutex_unlock(&mu);
    data = 2; /* whatever the flag said */              // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    data = flag = missed = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
