// Locks let go of by a thread that does not hold them, and one destroyed while held.
#include <pthread.h>

pthread_mutex_t others = PTHREAD_MUTEX_INITIALIZER, nobodys = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;

void *work(void *arg) {
    pthread_mutex_unlock(&others);                      // expect: unlock-not-held #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_spin_init(&spin, 0);
    pthread_mutex_lock(&others);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    pthread_mutex_unlock(&nobodys);                     // expect: unlock-not-held #2
    pthread_rwlock_unlock(&rwlock);                     // expect: unlock-not-held #3
    pthread_spin_unlock(&spin);                         // expect: unlock-not-held #4
    pthread_mutex_lock(&held);
    pthread_mutex_destroy(&held);                       // expect: lock-leak #5
    return 0;
}
