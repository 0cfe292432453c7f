// The lock is released on a path that never took it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    if (arg)
        pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock); // expect: unlock-not-held #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    return 0;
}
