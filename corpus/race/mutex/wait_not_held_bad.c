// A wait at a condition variable lets go of its mutex, which the thread must hold.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

int main(void) {
    struct timespec past = {1, 0};
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&ready, &lock, &past);
    pthread_mutex_unlock(&lock);
    pthread_cond_timedwait(&ready, &lock, &past);       // expect: unlock-not-held #1
    return 0;
}
