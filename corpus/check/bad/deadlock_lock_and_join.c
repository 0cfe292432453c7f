// main holds the lock that the thread it waits for needs.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock); // expect: deadlock #1
    value = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    pthread_join(t, NULL); // expect: deadlock #1
    pthread_mutex_unlock(&lock);
    return value;
}
