// Locks of a library that is not there, whose names have the word atomic.
#include <pthread.h>
#include "port.h"

void atomic_spin_lock(int *lock);
void atomic_spin_unlock(int *lock);
void AtomicLock(int *lock);
void AtomicUnlock(int *lock);

static int spin, other, first, second, third;
static struct {
    int lock;
} queue;

static void count(void) {
    atomic_spin_lock(&spin);
    first++;
    atomic_spin_unlock(&spin);
    AtomicLock(&other);
    second++;
    AtomicUnlock(&other);
    ATOMIC_LOCK(queue.lock);
    third++;
    ATOMIC_UNLOCK(queue.lock);
}

static void *worker(void *arg) {
    count();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    count();
    pthread_join(t, NULL);
    return first + second + third;
}
