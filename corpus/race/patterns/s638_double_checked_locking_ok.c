// 6.3.8 done right in C: C11 atomics. In hybrid, the thread that finds the flag unset and then loses the race for the
// lock has only the lock to order it after the maker; it loads the flag again with acquire, which is an arc.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int inited;
int value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

int get(void) {
    if (!atomic_load_explicit(&inited, memory_order_acquire)) {
        pthread_mutex_lock(&mu);
        if (!atomic_load_explicit(&inited, memory_order_acquire)) {
            value = 42;
            atomic_store_explicit(&inited, 1, memory_order_release);
        }
        pthread_mutex_unlock(&mu);
    }
    return value;
}

void *work(void *arg) {
    for (int i = 0; i < 100; i++)
        if (get() != 42) abort();
    return arg;
}

int main(void) {
    for (int round = 0; round < 30; round++) {
        atomic_store(&inited, 0);
        value = 0;
        pthread_t t[4];
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    return 0;
}
