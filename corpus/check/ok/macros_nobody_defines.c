//! The header that defines EXPORT and CALL is written by a build and is not there. The declarations
//! around them are understood all the same, and the type that they mention stays a type.
#include "library_config.h"
#include <pthread.h>

typedef struct counter counter_t;

EXPORT counter_t *counter_new(int start);
EXPORT int counter_start(counter_t *c);

struct counter {
    pthread_mutex_t lock;
    pthread_t thread;
    int n;
};

static counter_t only = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static FORCEINLINE void *CALL
run(void *arg)
{
    counter_t *c = arg;
    pthread_mutex_lock(&c->lock);
    c->n++;
    pthread_mutex_unlock(&c->lock);
    return 0;
}

int CALL counter_start(counter_t *c) { return pthread_create(&c->thread, NULL, run, c); }

int main(void)
{
    if (counter_start(&only))
        return 1;
    pthread_mutex_lock(&only.lock);
    only.n++;
    pthread_mutex_unlock(&only.lock);
    pthread_join(only.thread, 0);
    return 0;
}
