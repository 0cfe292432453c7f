// expect: deadlock
//@ bound: 0
//@ always
// A barrier for three that only two come to.
#include <pthread.h>

pthread_barrier_t barrier;

void *worker(void *arg) {
    pthread_barrier_wait(&barrier);                     // expect: deadlock here
    return arg;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, 3);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    return 0;
}
