// expect: nothing
// main ends by pthread_exit; the process lives until the last thread ends.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int left = 2;

void *worker(void *arg) {
    if (atomic_fetch_sub(&left, 1) == 1) exit(0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_detach(a);
    pthread_detach(b);
    pthread_exit(0);
}
