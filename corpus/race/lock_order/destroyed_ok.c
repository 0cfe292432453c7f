// Locks that come and go: a mutex is destroyed and made anew at the same address, then taken in the other order. The old edge
// went with the old lock. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recycled;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; // hands over: orders the run rightly, and rules out no cycle by itself
long done;

static long is_done(void) {
    pthread_mutex_lock(&mu);
    long d = done;
    pthread_mutex_unlock(&mu);
    return d;
}

void *first(void *arg) {
    pthread_mutex_init(&recycled, 0);
    pthread_mutex_lock(&fixed);
    pthread_mutex_lock(&recycled);
    pthread_mutex_unlock(&recycled);
    pthread_mutex_unlock(&fixed);
    pthread_mutex_destroy(&recycled);
    pthread_mutex_lock(&mu);
    done = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *second(void *arg) {
    while (!is_done()) usleep(100);
    pthread_mutex_init(&recycled, 0);
    pthread_mutex_lock(&recycled);
    pthread_mutex_lock(&fixed);
    pthread_mutex_unlock(&fixed);
    pthread_mutex_unlock(&recycled);
    pthread_mutex_destroy(&recycled);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
