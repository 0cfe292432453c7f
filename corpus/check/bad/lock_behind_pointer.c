// Locks are functions behind pointers that somebody else has set; one of the two takes none.
#include <pthread.h>
#include <stddef.h>

struct lock_functions {
    int (*lock)(unsigned mode, void *lock);
    int (*unlock)(unsigned mode, void *lock);
};

extern struct lock_functions lock_functions;
static struct { char state[40]; } count_lock;

static int count;

static void *work(void *data) {
    lock_functions.lock(0, &count_lock);
    ++count; // expect: data-race #1
    lock_functions.unlock(0, &count_lock);
    return data;
}

void run(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    ++count; // expect: data-race #1
    pthread_join(t, NULL);
}
