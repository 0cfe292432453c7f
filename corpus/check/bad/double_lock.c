// A lock is taken again by a function that is called under it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int size;

static int get_size(void) {
    pthread_mutex_lock(&lock); // expect: double-lock #1
    int s = size;
    pthread_mutex_unlock(&lock);
    return s;
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock); // expect: double-lock #1
    if (get_size() < 10)
        size++;
    pthread_mutex_unlock(&lock);
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
