// A thread that has ended when the process does, and that nobody has joined or detached.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int step;

void *work(void *arg) {
    atomic_store(&step, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);                     // expect: leak #1
    while (!atomic_load(&step)) usleep(100);
    usleep(50000);
    return 0;
}
