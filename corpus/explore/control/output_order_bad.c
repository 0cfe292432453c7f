// expect: non-determinism
//@ monitors: output
//@ bound: 0
// What is printed depends on the schedule: 12 or 21.
// Fails when: the second thread runs first. Only on request: many programs are meant to do this.
#include <pthread.h>
#include <unistd.h>

void *prints(void *arg) {
    return write(1, arg, 1) == 1 ? arg : 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, prints, "1");
    pthread_create(&b, 0, prints, "2");
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
