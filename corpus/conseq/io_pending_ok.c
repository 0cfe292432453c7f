// expect: nothing
// The twin of io_pending_bad.c: the flag is set before the device can clear it.
#include <pthread.h>
#include <sched.h>

volatile int io_pending;

void *device(void *arg) {
    io_pending = 0;
    return arg;
}

int main(void) {
    pthread_t t;
    io_pending = 1;
    pthread_create(&t, 0, device, 0);
    while (io_pending)
        sched_yield();
    pthread_join(t, 0);
    return 0;
}
