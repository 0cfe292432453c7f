// expect: nothing
// The exit status says which thread was first: a result, and either is right.
#include <pthread.h>
#include <stdint.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int first;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    if (!first)
        first = (int)(intptr_t)arg;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return first == 2;
}
