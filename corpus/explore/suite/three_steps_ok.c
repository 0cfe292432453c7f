// expect: nothing
// The worker passes through its states under a lock, in one go.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int state;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    atomic_store(&state, 1);
    atomic_store(&state, 2);
    atomic_store(&state, 3);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *watcher(void *arg) {
    pthread_mutex_lock(&mu);
    int first = atomic_load(&state);
    int second = atomic_load(&state);
    int third = atomic_load(&state);
    pthread_mutex_unlock(&mu);
    assert(!(first == 1 && second == 2 && third == 3));
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, watcher, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
