// A type and an attribute that nobody defines. The variable between them has a lock.
#include "library_config.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static count_t counter CACHE_ALIGNED;
static COUNT other CACHE_ALIGNED;

static void *run(void *arg) {
    pthread_mutex_lock(&lock);
    counter++;
    other++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&lock);
    counter++;
    other++;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
