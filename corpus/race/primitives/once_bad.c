// pthread_once orders what its function did, and nothing that comes later: the first thread goes on to change the table after
// pthread_once has returned. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long table[4];
pthread_once_t once = PTHREAD_ONCE_INIT;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void init(void) { table[0] = 1; }

void *first(void *arg) {
    pthread_once(&once, init);
    table[1] = 2;                                       // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_once(&once, init);
    return (char *)arg + table[0] + table[1];           // expect: data-race read #1
}

int main(void) {
    table[0] = table[1] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
