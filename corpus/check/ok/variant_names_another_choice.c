// Without the header that a build writes, a choice is open. The name is not about thread-local
// variables: it stays undefined, and the variant without it takes a lock.
#include "config.h"
#include <pthread.h>

#ifdef NO_LOCKS
static __thread int *own;
static int *get(void) {
    return own;
}
#else
static pthread_key_t key;
static int *get(void) {
    return pthread_getspecific(key);
}
#endif

#ifdef NO_LOCKS
#define LOCK()
#define UNLOCK()
#else
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&m)
#define UNLOCK() pthread_mutex_unlock(&m)
#endif

static int count;

static void *work(void *data) {
    get();
    LOCK();
    count++;
    UNLOCK();
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    LOCK();
    count++;
    UNLOCK();
    pthread_join(t, 0);
    return 0;
}
