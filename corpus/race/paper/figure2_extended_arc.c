// Figure 2: an unlock and a later lock of the same mutex are an arc only in the extended relation of 4.4.1.
//
//     T1: var = 1; lock; unlock          T2: lock; unlock; var = 2
//
// The critical sections are empty, so nothing in the program makes T1 come first; this run does, through
// `step`. Pure happens-before takes the arc for an order and is silent, every time. The hybrid mode has no
// arc and no common lock: it reports, every time. So does fast, since main touched `var` before both.
// expect(hb): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int var;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *t1(void *arg) {
    var = 1;                                            // expect(hybrid fast): data-race write #1
    pthread_mutex_lock(&mu);
    pthread_mutex_unlock(&mu);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *t2(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    pthread_mutex_unlock(&mu);
    var = 2;                                            // expect(hybrid fast): data-race write #1
    return arg;
}

int main(void) {
    var = 0;
    pthread_t a, b;
    pthread_create(&a, 0, t1, 0);
    pthread_create(&b, 0, t2, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
