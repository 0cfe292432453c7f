// expect: assertion
//@ bound: 1
// A thread ends with a robust mutex locked. Until it has ended, the mutex is just locked.
// Fails when: the other thread looks after the last unlock of the first and before its end.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t owned, mu = PTHREAD_MUTEX_INITIALIZER;
int done;

void *ends(void *arg) {
    pthread_mutex_lock(&owned);
    pthread_mutex_lock(&mu);
    done = 1;
    pthread_mutex_unlock(&mu);
    return arg; // without unlock
}

void *tries(void *arg) {
    pthread_mutex_lock(&mu);
    int is_done = done;
    pthread_mutex_unlock(&mu);
    if (is_done) {
        assert(pthread_mutex_trylock(&owned) != EBUSY); // expect: assertion here
    }
    return arg;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&owned, &attr);
    pthread_t a, b;
    pthread_create(&a, 0, ends, 0);
    pthread_create(&b, 0, tries, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
