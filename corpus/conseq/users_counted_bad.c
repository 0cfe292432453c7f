// expect: use-after-free
// The same count, and a thread that looks at the block after it has left.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int users = 2, *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int leave(void) {
    pthread_mutex_lock(&lock);
    int left = --users;
    pthread_mutex_unlock(&lock);
    return left;
}

static void *work(void *arg) {
    if (leave() == 0)
        free(shared);
    else
        assert(*shared == 7);
    return arg;
}

int main(void) {
    shared = malloc(sizeof *shared);
    *shared = 7;
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
