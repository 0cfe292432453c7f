// expect: deadlock
//@ bound: 0
//@ always
// A thread that holds the lock for reading asks for it for writing.
#include <pthread.h>

pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

void *upgrader(void *arg) {
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_wrlock(&rw);                         // expect: deadlock here
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, upgrader, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
