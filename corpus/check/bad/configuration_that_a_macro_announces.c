// As the twin in ok/, but the lock is released before the store.
#ifdef HAVE_CONFIG_H
#include "program_config.h"
#endif
#include <pthread.h>

#if defined(HAVE_ATOMIC) && defined(HAVE_STDATOMIC_H)
static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&global)
#define UNLOCK() pthread_mutex_unlock(&global)
#else
#define LOCK()
#define UNLOCK()
#endif

static int initialised;

static void *work(void *arg) {
    LOCK();
    int is_first = !initialised; // expect: data-race #1
    UNLOCK();
    if (is_first)
        initialised = 1; // expect: data-race #1
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
