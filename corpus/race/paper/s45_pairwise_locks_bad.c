// 4.5 with one lock missing: the third thread takes mu3 only, which the first does not hold. The pair (t1, t3)
// has neither an arc nor a common lock. t3 runs before t2, so that t2's locks do not order t3 after t1 in hb.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu1 = PTHREAD_MUTEX_INITIALIZER, mu2 = PTHREAD_MUTEX_INITIALIZER, mu3 = PTHREAD_MUTEX_INITIALIZER;
int obj;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) { while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100); }

void *t1(void *arg) {
    pthread_mutex_lock(&mu1);
    pthread_mutex_lock(&mu2);
    obj = 1;                                            // expect: data-race write #1
    pthread_mutex_unlock(&mu2);
    pthread_mutex_unlock(&mu1);
    reached(1);
    return arg;
}

void *t3(void *arg) {
    until(1);
    pthread_mutex_lock(&mu3);
    obj = 3;                                            // expect: data-race write #1
    pthread_mutex_unlock(&mu3);
    reached(2);
    return arg;
}

void *t2(void *arg) {
    until(2);
    pthread_mutex_lock(&mu2);
    pthread_mutex_lock(&mu3);
    obj = 2;
    pthread_mutex_unlock(&mu3);
    pthread_mutex_unlock(&mu2);
    return arg;
}

int main(void) {
    obj = 0;
    pthread_t a, b, c;
    pthread_create(&a, 0, t1, 0);
    pthread_create(&b, 0, t2, 0);
    pthread_create(&c, 0, t3, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
