// A mutex serves as a signal: another thread releases it. That is undefined, but the mutex is
// free afterwards: nobody waits for ever, and what its owner still does is not guarded any more.
#include <pthread.h>

static pthread_mutex_t done = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *releaser(void *arg) {
    pthread_mutex_unlock(&done); // expect: unlock-not-held #1
    return NULL;
}

static void *waiter(void *arg) {
    pthread_mutex_lock(&done);
    count++; // expect: data-race #2
    pthread_mutex_unlock(&done);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_mutex_lock(&done);
    pthread_create(&a, NULL, releaser, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    count++; // expect: data-race #2
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
