// 6.3.6 done right: writers take the lock for writing, readers for reading; try and plain forms mixed.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

int low, high;
pthread_rwlock_t mu = PTHREAD_RWLOCK_INITIALIZER;

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        if (i % 10 == 0) {
            if (pthread_rwlock_trywrlock(&mu) != 0) pthread_rwlock_wrlock(&mu);
            low++;
            high++;
        } else {
            if (pthread_rwlock_tryrdlock(&mu) != 0) pthread_rwlock_rdlock(&mu);
            if (low != high) abort();
        }
        pthread_rwlock_unlock(&mu);
    }
    return arg;
}

int main(void) {
    low = high = 0;
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return high != 800;
}
