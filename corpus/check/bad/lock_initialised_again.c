// The lock is initialised after the thread was started, which may hold it by then.
#include <pthread.h>

static pthread_mutex_t m;

static void *worker(void *arg) {
    pthread_mutex_lock(&m);   // expect: unlock-not-held #1
    pthread_mutex_unlock(&m); // expect: unlock-not-held #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_init(&m, NULL);
    pthread_join(t, NULL);
    return 0;
}
