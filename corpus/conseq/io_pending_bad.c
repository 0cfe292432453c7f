// expect: hang
// After Mozilla (figure 1b of the paper): a flag is set that says that something is under way, and cleared when it is done. If it is done before
// the flag is set, whoever waits for the flag waits for ever.
//@ machine-code: perhaps. That the loop only waits is seen by the stack, which is the same in each round; there the stubs save registers
// on it that may hold anything.
#include <pthread.h>
#include <sched.h>

volatile int io_pending;

void *device(void *arg) {
    io_pending = 0;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, device, 0);
    io_pending = 1;
    while (io_pending)
        sched_yield();
    pthread_join(t, 0);
    return 0;
}
