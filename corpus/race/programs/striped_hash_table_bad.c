// The stripe is chosen by one hash and the bucket by another: two keys of one bucket can have different locks. Every mode reports
// the bucket. (Keys 1 and 9 share bucket 1 of 8, but not the stripe.)
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BUCKETS = 8, STRIPES = 4 };
long bucket[BUCKETS];
pthread_mutex_t stripe[STRIPES];
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) static void insert(unsigned key) {
    pthread_mutex_t *mu = &stripe[key / 3 % STRIPES]; // should be key % BUCKETS % STRIPES
    pthread_mutex_lock(mu);
    bucket[key % BUCKETS] = key;                        // expect: data-race write write #1
    pthread_mutex_unlock(mu);
}

void *first(void *arg) {
    insert(1);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    insert(9);
    return arg;
}

int main(void) {
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripe[i], 0);
    for (int i = 0; i < BUCKETS; i++) bucket[i] = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
