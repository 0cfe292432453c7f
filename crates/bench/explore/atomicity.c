// An atomicity violation: the read and the write of an increment are two critical sections.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused) {
    pthread_mutex_lock(&mu);
    int seen = count;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    count = seen + 1;
    pthread_mutex_unlock(&mu);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count == 2);
    return 0;
}
