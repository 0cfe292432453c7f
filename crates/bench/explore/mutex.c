// Three threads take a mutex five times each. Right in every interleaving.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mu);
        count++;
        pthread_mutex_unlock(&mu);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(count == 15);
    return 0;
}
