// Without the header that a build writes, a choice is open. Both variants give each thread its own
// counter, and the second one is for compilers without thread-local variables.
#include "config.h"
#include <pthread.h>
#include <stdlib.h>

#ifdef CONFIG_LIB_TLS
static __thread int own;
static int *counter(void) {
    return &own;
}
#else
static pthread_key_t key;
static int is_made;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int *counter(void) {
    if (!is_made) {
        pthread_mutex_lock(&m);
        if (!is_made) {
            pthread_key_create(&key, free);
            is_made = 1;
        }
        pthread_mutex_unlock(&m);
    }
    int *own = pthread_getspecific(key);
    if (!own) {
        own = calloc(1, sizeof *own);
        pthread_setspecific(key, own);
    }
    return own;
}
#endif

static void *work(void *data) {
    ++*counter();
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    ++*counter();
    pthread_join(t, 0);
    return 0;
}
