// expect: nothing
//@ monitors: race
// All that orders: a mutex, a reader-writer lock, a condition variable, a semaphore, a barrier, once, creation and join, a locked FILE,
// fences beside relaxed atomics.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_barrier_t barrier;
sem_t sem;
atomic_int flag;
int by_mutex, by_cond, by_rwlock, by_once, by_barrier, by_sem, by_create, by_join, by_fence, by_file, is_there;

static void init(void) {
    by_once = 1;
}

void *other(void *arg) {
    int sum = by_create;
    by_fence = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    pthread_rwlock_wrlock(&rw);
    by_rwlock++;
    pthread_rwlock_unlock(&rw);
    pthread_once(&once, init);
    sum += by_once;
    flockfile(stdout);
    by_file++;
    funlockfile(stdout);
    by_sem = 1;
    sem_post(&sem);
    pthread_mutex_lock(&mu);
    by_mutex++;
    by_cond = 1;
    is_there = 1;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
    by_barrier = 1;
    pthread_barrier_wait(&barrier);
    by_join = sum;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    sem_init(&sem, 0, 0);
    by_create = 1;
    pthread_create(&t, 0, other, 0);
    int sum = 0;
    if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        sum += by_fence;
    }
    pthread_rwlock_rdlock(&rw);
    sum += by_rwlock;
    pthread_rwlock_unlock(&rw);
    pthread_once(&once, init);
    sum += by_once;
    flockfile(stdout);
    by_file++;
    funlockfile(stdout);
    while (sem_wait(&sem) != 0) {}
    sum += by_sem;
    pthread_mutex_lock(&mu);
    while (!is_there) pthread_cond_wait(&cv, &mu);
    sum += by_mutex + by_cond;
    pthread_mutex_unlock(&mu);
    pthread_barrier_wait(&barrier);
    sum += by_barrier;
    pthread_join(t, 0);
    return sum + by_join > 0 ? 0 : 1;
}
