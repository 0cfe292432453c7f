// expect: nothing
// A mutex is destroyed when its user has ended.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *user(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, user, 0);
    pthread_join(t, 0);
    int error = pthread_mutex_destroy(&lock);
    assert(error == 0);
    return 0;
}
