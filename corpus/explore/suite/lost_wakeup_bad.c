// expect: deadlock
//@ bound: 1
// The waiter looks at the flag before it takes the lock, and does not look again.
// Fails when: the waiter reads ready == 0; the setter sets it and signals to nobody; the waiter waits for ever.
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *waiter(void *arg) {
    if (!atomic_load(&ready)) {
        pthread_mutex_lock(&mu);
        pthread_cond_wait(&changed, &mu);               // expect: deadlock here
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

void *setter(void *arg) {
    pthread_mutex_lock(&mu);
    atomic_store(&ready, 1);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t w, s;
    pthread_create(&w, 0, waiter, 0);
    pthread_create(&s, 0, setter, 0);
    pthread_join(w, 0);                                 // expect: deadlock here
    pthread_join(s, 0);
    return 0;
}
