// expect: assertion
//@ bound: 1
// Double-checked initialisation with a plain flag that is set before the object is whole.
// Fails when: A sets the flag and is preempted before it fills in the value; B sees the flag and reads 0.
#include <assert.h>
#include <pthread.h>

int initialised, value;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static int get(void) {
    if (!initialised) {
        pthread_mutex_lock(&mu);
        if (!initialised) {
            initialised = 1;
            value = 42;
        }
        pthread_mutex_unlock(&mu);
    }
    return value;
}

void *user(void *arg) {
    assert(get() == 42);                                // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
