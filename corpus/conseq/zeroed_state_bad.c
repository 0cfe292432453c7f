// expect: assertion
//@ flags: -O1 -U_FORTIFY_SOURCE
// State that one thread looks at twice is cleared by a call of `memset`, which gcc leaves to the C library.
#include <assert.h>
#include <pthread.h>
#include <string.h>

int state[4];
size_t size = sizeof state;
int looks;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *user(void *arg) {
    if (state[0]) {
        pthread_mutex_lock(&lock);
        looks++;
        pthread_mutex_unlock(&lock);
        assert(state[0] == 1);
    }
    return arg;
}

void *reset(void *arg) {
    memset(state, 0, size);
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
