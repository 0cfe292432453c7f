// expect: livelock
//@ bound: 0
//@ always
// Two threads wait for each other's flag, yielding as they should: fair, and without end.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int first, second;

void *one(void *arg) {
    while (!atomic_load(&second)) sched_yield();        // expect: livelock here
    atomic_store(&first, 1);
    return arg;
}

void *two(void *arg) {
    while (!atomic_load(&first)) sched_yield();         // expect: livelock here
    atomic_store(&second, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
