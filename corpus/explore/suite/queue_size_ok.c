// expect: nothing
// A queue whose consumer uses the unlocked size as a hint and looks again under the lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int size;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *consumer(void *arg) {
    if (atomic_load(&size) == 0) return arg; // a hint
    pthread_mutex_lock(&mu);
    if (atomic_load(&size) > 0) atomic_fetch_sub(&size, 1);
    assert(atomic_load(&size) >= 0);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *producer(void *arg) {
    pthread_mutex_lock(&mu);
    atomic_fetch_add(&size, 1);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t p, a, b;
    pthread_create(&p, 0, producer, 0);
    pthread_create(&a, 0, consumer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(p, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
