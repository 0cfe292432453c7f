// expect: assertion
//@ bound: 1
// A queue whose consumer reads the size without the lock and then takes it for granted.
// Fails when: A reads size == 1; B takes the item; A takes from an empty queue.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int size;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *consumer(void *arg) {
    if (atomic_load(&size) == 0) return arg; // unlocked
    pthread_mutex_lock(&mu);
    assert(atomic_load(&size) > 0);                     // expect: assertion here
    atomic_fetch_sub(&size, 1);
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
