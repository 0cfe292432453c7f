// What was done before a handler was registered happened before `quick_exit` runs it.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int state;
atomic_int registered; // relaxed: synchronises nothing

void at_exit(void) { state++; }

void *work(void *arg) {
    state = 1;
    at_quick_exit(at_exit);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    while (!atomic_load_explicit(&registered, memory_order_relaxed)) usleep(100);
    quick_exit(0);
}
