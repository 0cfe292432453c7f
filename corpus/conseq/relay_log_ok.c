// expect: nothing
// The twin of relay_log_bad.c: the slave waits until the master has moved on.
#include <assert.h>
#include <pthread.h>

int pos = 100;
int requested = 104;
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

void *master(void *arg) {
    pthread_mutex_lock(&log_lock);
    pos += 4;
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&log_lock);
    return arg;
}

void *slave(void *arg) {
    pthread_mutex_lock(&log_lock);
    while (pos < requested)
        pthread_cond_wait(&moved, &log_lock);
    int here = pos;
    pthread_mutex_unlock(&log_lock);
    assert(here == requested);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, master, 0);
    pthread_create(&b, 0, slave, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
