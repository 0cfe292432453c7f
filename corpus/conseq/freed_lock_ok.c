// expect: nothing
// The twin of freed_lock_bad.c: the thread is joined before its lock is freed.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t *lock;
static int done;
static int times;

static void *work(void *unused) {
    pthread_mutex_t *own = lock;
    pthread_mutex_lock(own);
    times++;
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(own);
    return unused;
}

int main(void) {
    pthread_t thread;
    lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, 0);
    pthread_create(&thread, 0, work, 0);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) sched_yield();
    pthread_join(thread, 0);
    free(lock);
    return times != 1;
}
