// Locks are functions behind pointers that somebody else has set; the lock is not the first argument.
#include <pthread.h>
#include <stddef.h>

struct lock_functions {
    void *(*alloc)(unsigned type);
    int (*lock)(unsigned mode, void *lock);
    int (*unlock)(unsigned mode, void *lock);
};

extern struct lock_functions lock_functions;
extern void *count_lock;

#define LOCK(l) do { if (l) lock_functions.lock(0, l); } while (0)
#define UNLOCK(l) do { if (l) lock_functions.unlock(0, l); } while (0)

static int count;

static void *work(void *data) {
    LOCK(count_lock);
    ++count;
    UNLOCK(count_lock);
    return data;
}

void run(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
