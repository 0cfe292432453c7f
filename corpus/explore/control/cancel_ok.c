// expect: nothing
// Cancellation: a thread in a condition wait is cancelled, takes its mutex again, runs its clean-up and ends as cancelled.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int cleaned;

static void clean_up(void *arg) {
    cleaned = 1;
    pthread_mutex_unlock(arg);
}

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    pthread_cleanup_push(clean_up, &mu);
    for (;;) pthread_cond_wait(&never, &mu);
    pthread_cleanup_pop(1);
    return arg;
}

int main(void) {
    pthread_t t;
    void *how;
    pthread_create(&t, 0, waiter, 0);
    assert(pthread_cancel(t) == 0);
    assert(pthread_join(t, &how) == 0);
    assert(how == PTHREAD_CANCELED);
    pthread_mutex_lock(&mu);
    assert(cleaned == 1);
    pthread_mutex_unlock(&mu);
    return 0;
}
