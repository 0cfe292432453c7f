// A race that this run orders: an unrelated critical section comes between the two writes.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int hidden;
static pthread_mutex_t unrelated = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;

static void *early(void *unused) {
    hidden = 1;
    pthread_mutex_lock(&unrelated);
    pthread_mutex_unlock(&unrelated);
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return unused;
}

static void *late(void *unused) {
    while (!atomic_load_explicit(&turn, memory_order_relaxed)) sched_yield();
    pthread_mutex_lock(&unrelated);
    pthread_mutex_unlock(&unrelated);
    hidden = 2;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, early, 0);
    pthread_create(&b, 0, late, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 5;
}
