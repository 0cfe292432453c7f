// The same with a recursive lock.
#include <pthread.h>

static pthread_mutex_t lock;
static int size;

static int get_size(void) {
    pthread_mutex_lock(&lock);
    int s = size;
    pthread_mutex_unlock(&lock);
    return s;
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    if (get_size() < 10)
        size++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
