// The condition is set without the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_cond = PTHREAD_COND_INITIALIZER;
static int done;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!done) // expect: data-race read #1
        pthread_cond_wait(&done_cond, &lock); // expect: deadlock #2
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    done = 1; // expect: data-race write #1
    pthread_cond_signal(&done_cond);
    pthread_join(t, NULL); // expect: deadlock #2
    return 0;
}
