// expect: nothing
// Three hundred threads at once, each with a stack and thread-local data of its own.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 300 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
_Thread_local int mine;
int sum;

void *worker(void *arg) {
    mine = 1;
    pthread_mutex_lock(&mu);
    sum += mine;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) assert(pthread_create(&t[i], 0, worker, 0) == 0);
    for (int i = 0; i < THREADS; i++) assert(pthread_join(t[i], 0) == 0);
    assert(sum == THREADS && mine == 0);
    return 0;
}
