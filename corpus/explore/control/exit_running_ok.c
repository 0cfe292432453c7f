// expect: nothing
// main returns while threads wait and spin: the process ends all the same, and that is no deadlock.
#include <pthread.h>
#include <sched.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void *waits(void *arg) {
    pthread_mutex_lock(&mu);
    for (;;) pthread_cond_wait(&never, &mu);
    return arg;
}

void *spins(void *arg) {
    for (;;) sched_yield();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, spins, 0);
    return 0;
}
