// expect: nothing
// localtime's static struct is read while the lock is still held.
#include <pthread.h>
#include <time.h>
#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int second_of(time_t when) {
    pthread_mutex_lock(&lock);
    int second = localtime(&when)->tm_sec;
    pthread_mutex_unlock(&lock);
    return second;
}

static void *logger(void *arg) {
    for (int i = 0; i < 240; i++) {
        work(4);
        *(long *)arg += second_of(60 * 1000 + i);
    }
    return 0;
}

int main(void) {
    pthread_t logging;
    long one = 0, two = 0;
    pthread_create(&logging, 0, logger, &one);
    logger(&two);
    pthread_join(logging, 0);
    return one == 7080 && two == 7080 ? 0 : 1;
}
