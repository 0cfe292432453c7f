// expect: nothing
// A test that reports by its exit status: the sum of two additions under a lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int total;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&mu);
    int before = atomic_load(&total);
    atomic_store(&total, before + (int)(intptr_t)arg);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, (void *)1);
    pthread_create(&b, 0, add, (void *)10);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return atomic_load(&total) == 11 ? 0 : 3;
}
