// expect: nothing
// A gate that opens for three at once.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
int is_open, through;

void *waiter(void *arg) {
    pthread_mutex_lock(&mu);
    while (!is_open) pthread_cond_wait(&opened, &mu);
    through++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, waiter, 0);
    pthread_mutex_lock(&mu);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&mu);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(through == THREADS);
    return 0;
}
