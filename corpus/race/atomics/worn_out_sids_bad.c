// The writer hands over early, then releases so often that it wears out several of the detector's slot numbers, and writes again. Who
// has seen the early release knows the first number, not those that came after it. Every mode reports.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { RELEASES = 40000 }; // an epoch for each release, and a slot number has some 16,000
long before, after;
atomic_long busy, early, step;

void *writer(void *arg) {
    before = 1;
    atomic_store_explicit(&early, 1, memory_order_release);
    for (long n = 0; n < RELEASES; n++) atomic_store_explicit(&busy, n, memory_order_release);
    after = 1;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load_explicit(&early, memory_order_acquire)) sched_yield();
    long sum = before; // in order
    while (!atomic_load_explicit(&step, memory_order_relaxed)) sched_yield();
    return (char *)arg + sum + after;                   // expect: data-race read #1
}

int main(void) {
    before = after = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
