// expect: nothing
// Initialisation under a lock: nobody looks at either variable without it.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long a, b;

void init(void) {
    pthread_mutex_lock(&mu);
    if (!a) {
        a = 1;
        b = 1;
    }
    pthread_mutex_unlock(&mu);
}

void *user(void *arg) {
    init();
    pthread_mutex_lock(&mu);
    assert(b);
    pthread_mutex_unlock(&mu);
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
