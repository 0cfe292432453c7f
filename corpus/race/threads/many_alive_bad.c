// Sixty-four threads alive at once, all reading one variable that one of them writes, behind no more than a relaxed counter.
// Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { N = 64 };
int shared;
atomic_int arrived; // relaxed: fixes the order of the run, synchronises nothing

void *reader(void *arg) {
    int seen = shared;                                  // expect: data-race read #1
    atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
    while (atomic_load_explicit(&arrived, memory_order_relaxed) < N) usleep(500);
    return (char *)arg + seen;
}

void *writer(void *arg) {
    while (atomic_load_explicit(&arrived, memory_order_relaxed) < N - 1) usleep(500);
    shared = 1;                                         // expect: data-race write #1
    atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(&t[i], 0, i ? reader : writer, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
