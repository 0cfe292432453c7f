// expect: nothing
// The twin of stop_request_bad.c: the slate is clean before anybody can write on it.
#include <pthread.h>
#include <sched.h>

int stopping, stopped;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int get(int *p) {
    pthread_mutex_lock(&lock);
    int v = *p;
    pthread_mutex_unlock(&lock);
    return v;
}

void set(int *p, int v) {
    pthread_mutex_lock(&lock);
    *p = v;
    pthread_mutex_unlock(&lock);
}

void *worker(void *arg) {
    while (!get(&stopping))
        sched_yield();
    set(&stopped, 1);
    return arg;
}

void *manager(void *arg) {
    set(&stopping, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    set(&stopping, 0);
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, manager, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
