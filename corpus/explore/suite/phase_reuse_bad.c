// expect: deadlock
//@ bound: 0
// A home-made barrier for two, used for two phases, that resets its count when the last one arrives and waits for the count.
// Fails when: A waits in phase 1; B arrives, resets the count to 0, broadcasts, goes on to phase 2 and makes the count 1 before A
// looks again: A believes that phase 1 is not over.
#include <pthread.h>

enum { THREADS = 2, PHASES = 2 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
int count;

static void meet(void) {
    pthread_mutex_lock(&mu);
    if (++count == THREADS) {
        count = 0;
        pthread_cond_broadcast(&all_here);
    } else {
        while (count != 0) pthread_cond_wait(&all_here, &mu); // expect: deadlock here
    }
    pthread_mutex_unlock(&mu);
}

void *worker(void *arg) {
    for (int i = 0; i < PHASES; i++) meet();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
