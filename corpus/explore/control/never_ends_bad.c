// expect: livelock
//@ bound: 0
//@ always
//@ options: --max-steps 10000
// A thread that goes round for ever and changes nothing, with a lock and not a yield: the bound on steps ends it.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
unsigned counter;

void *works(void *arg) {
    for (;;) {
        pthread_mutex_lock(&mu);
        if (counter) return arg;
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
