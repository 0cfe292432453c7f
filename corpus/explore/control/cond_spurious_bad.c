// expect: assertion
//@ bound: 0
// A wait without a loop around it: nothing wakes it too early but a spurious wake-up.
// Fails when: the waiter wakes up with no signal given. A spurious wake-up is a choice, not a preemption.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    if (!ready) pthread_cond_wait(&changed, &mu); // should be while
    assert(ready);                                      // expect: assertion here
    pthread_mutex_unlock(&mu);
    return arg;
}

void *setter(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t w, s;
    pthread_create(&w, 0, waiter, 0);
    pthread_create(&s, 0, setter, 0);
    pthread_join(w, 0);
    pthread_join(s, 0);
    return 0;
}
