// A cycle over three locks: a then b, b then c, c then a. No two threads ever hold the same two. Every mode reports one cycle with
// its three edges.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static void until(int n) { while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100); }
static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }

void *t1(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);                             // expect: lock-order #1
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    reached(1);
    return arg;
}

void *t2(void *arg) {
    until(1);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);                             // expect: lock-order #1
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    reached(2);
    return arg;
}

void *t3(void *arg) {
    until(2);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a);                             // expect: lock-order #1
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&c);
    return arg;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, t1, 0);
    pthread_create(&t[1], 0, t2, 0);
    pthread_create(&t[2], 0, t3, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
