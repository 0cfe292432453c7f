// expect: nothing
// Two threads that give way at most twice and then take the locks in order: no livelock.
#include <pthread.h>
#include <sched.h>

enum { TRIES = 2 };
pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
    for (int i = 0; i < TRIES; i++) {
        pthread_mutex_lock(one);
        if (pthread_mutex_trylock(two) == 0) return;
        pthread_mutex_unlock(one);
        sched_yield();
    }
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
}

static void neither(void) {
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
}

void *lefty(void *arg) {
    both(&left, &right);
    neither();
    return arg;
}

void *righty(void *arg) {
    both(&right, &left);
    neither();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, lefty, 0);
    pthread_create(&b, 0, righty, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
