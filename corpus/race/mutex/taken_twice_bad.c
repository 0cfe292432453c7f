//@ exit: 3
// A thread takes a mutex that it holds and waits for itself. Main gives up on it.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
atomic_int step;

void *work(void *arg) {
    pthread_mutex_lock(&mu);
    atomic_store(&step, 1);
    pthread_mutex_lock(&mu);                            // expect: double-lock #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load(&step)) usleep(100);
    usleep(50000);
    _exit(3);
}
