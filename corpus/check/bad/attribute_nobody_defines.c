// A type and an attribute that nobody defines. The name between them is the variable.
#include "library_config.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static count_t counter CACHE_ALIGNED;
static COUNT other CACHE_ALIGNED;

static void *run(void *arg) {
    pthread_mutex_lock(&lock);
    counter++; // expect: data-race #1
    other++; // expect: data-race #2
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    counter++; // expect: data-race #1
    other++; // expect: data-race #2
    pthread_join(t, 0);
    return 0;
}
