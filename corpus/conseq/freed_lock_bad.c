// expect: use-after-free
// After CVE-2016-1972 (libvpx) and pbzip2: a lock is freed as soon as the work under it is known to be done. The one that did it may still
// have to give the lock back.
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
    free(lock);
    pthread_join(thread, 0);
    return times != 1;
}
