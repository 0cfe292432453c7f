// Two locks in opposite orders, one thread after the other: a cycle, and no deadlock in this run.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;

static void both(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *forwards(void *unused) {
    both(&left, &right);
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return unused;
}

static void *backwards(void *unused) {
    while (!atomic_load_explicit(&turn, memory_order_relaxed)) sched_yield();
    both(&right, &left);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, forwards, 0);
    pthread_create(&b, 0, backwards, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 5;
}
