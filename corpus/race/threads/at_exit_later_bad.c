// What a detached thread does after it has registered a handler is not ordered before the handler.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int state;
atomic_int step; // relaxed: synchronises nothing

void at_exit(void) {
    state++;                                            // expect: data-race write #1 | read #1
}

void *work(void *arg) {
    atexit(at_exit);
    state = 2;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    for (;;) pause();
    return arg;
}

int main(void) {
    state = 1;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    return 0;
}
