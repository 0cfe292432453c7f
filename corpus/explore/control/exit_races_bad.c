// expect: exit-status
//@ bound: 0
//@ options: --sleep-is-not-yield
// Two threads call _exit with different statuses; 0 is what usually comes out.
// Fails when: the second thread runs first.
#include <pthread.h>
#include <unistd.h>

void *good(void *arg) {
    _exit(0);
    return arg;
}

void *bad(void *arg) {
    usleep(10000);
    _exit(4);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, good, 0);
    pthread_create(&b, 0, bad, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
