// expect: starvation
//@ bound: 0
//@ monitors: spin
// Figure 3 of the paper: the loop looks as if it yielded, but halt() returns at once while any notification is pending, also
// somebody else's.
// Fails when: notification 2 is pending, which this thread never dispatches, and 1 comes late.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int pending = 2; // bits

static void halt(void) {
    if (atomic_load(&pending)) return;                  // expect: starvation here
    sched_yield();
}

void *dispatcher(void *arg) {
    for (;;) {
        halt();                                         // expect: starvation here
        if (atomic_load(&pending) & 1) break;           // expect: starvation here
    }
    atomic_fetch_and(&pending, ~1);
    return arg;
}

void *device(void *arg) {
    atomic_fetch_or(&pending, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, dispatcher, 0);
    pthread_create(&b, 0, device, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
