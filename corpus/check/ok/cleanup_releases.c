// pthread_exit under a lock that a cleanup handler releases.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void release(void *m) { pthread_mutex_unlock(m); }

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(release, &lock);
    count++;
    if (count > 0)
        pthread_exit(NULL);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
