// expect: livelock
//@ bound: 0
// Two threads poll each other's flag under a lock, and each would set its own afterwards: nobody ever changes anything.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int first, second;

static void until(int *flag) {
    for (;;) {
        pthread_mutex_lock(&mu);                        // expect: livelock here
        int set = *flag;
        pthread_mutex_unlock(&mu);                      // expect: livelock here
        if (set) return;
    }
}

void *one(void *arg) {
    until(&second);
    pthread_mutex_lock(&mu);
    first = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *two(void *arg) {
    until(&first);
    pthread_mutex_lock(&mu);
    second = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
