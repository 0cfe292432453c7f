// expect: assertion
//@ bound: 1
// A mutex is destroyed while another thread may hold it.
// Fails when: the thread has it at that moment.
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
    int error = pthread_mutex_destroy(&lock);
    assert(error == 0);                                 // expect: assertion here
    pthread_join(t, 0);
    return 0;
}
