// expect: assertion
// Initialisation that is checked without the lock first: who sees the flag takes the rest for done.
// Fails when: A finds b unset; B, with the lock, sets a; A sees a, returns, and finds b still unset. The accesses
// of `init` that race with each other are reached in few schedules.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long a, b;

void init(void) {
    if (a) return;
    pthread_mutex_lock(&mu);
    if (!a) {
        a = 1;
        b = 1;
    }
    pthread_mutex_unlock(&mu);
}

void *user(void *arg) {
    if (!b) init();
    assert(b); // expect: assertion here
    return arg;
}

void *other(void *arg) {
    init();
    return arg;
}

int main(void) {
    pthread_t p, q;
    pthread_create(&p, 0, user, 0);
    pthread_create(&q, 0, other, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
}
