// expect: nothing
//@ flags: -O1 -U_FORTIFY_SOURCE
// The twin of zeroed_state_bad.c: both looks, and the call of `memset`, hold the lock.
#include <assert.h>
#include <pthread.h>
#include <string.h>

int state[4];
size_t size = sizeof state;
int looks;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *user(void *arg) {
    pthread_mutex_lock(&lock);
    if (state[0]) {
        looks++;
        assert(state[0] == 1);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

void *reset(void *arg) {
    pthread_mutex_lock(&lock);
    memset(state, 0, size);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    state[0] = 1;
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, reset, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
