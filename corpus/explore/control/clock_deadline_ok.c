// expect: nothing
// A thread polls under a lock until the clock shows that a second has passed: by this each lap is progress.
#include <pthread.h>
#include <time.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int ready;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

void *polls(void *arg) {
    int seen = 0;
    double end = now() + 1;
    while (!seen && now() < end) {
        pthread_mutex_lock(&mu);
        seen = ready;
        pthread_mutex_unlock(&mu);
    }
    (void)seen;
    return arg;
}

void *sets(void *arg) {
    pthread_mutex_lock(&mu);
    ready = 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, polls, 0);
    pthread_create(&b, 0, sets, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
