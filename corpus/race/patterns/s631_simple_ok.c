// 6.3.1 done right: the same counter under a mutex. The lock is common to all (hybrid, fast) and its unlocks order
// the accesses (hb).
// expect: nothing
#include <pthread.h>

int v;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mu);
        v++;
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

int main(void) {
    v = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return v != 6000;
}
