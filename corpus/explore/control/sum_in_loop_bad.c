// expect: assertion
//@ bound: 1
// A thread adds up what it reads three times. It changes something of its own each time, so it does
// not wait for anybody.
// Fails when: the variable is set between the first read and the second.
#include <assert.h>
#include <pthread.h>

volatile int on;

void *sums(void *arg) {
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += on;
    assert(sum != 2);                                   // expect: assertion here
    return arg;
}

void *sets(void *arg) {
    on = 1;
    return arg;
}

int main(void) {
    pthread_t a, s;
    pthread_create(&a, 0, sums, 0);
    pthread_create(&s, 0, sets, 0);
    pthread_join(a, 0);
    pthread_join(s, 0);
    return 0;
}
