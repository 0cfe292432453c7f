// expect: nothing
// A thread adds up what it reads three times. It changes something of its own each time, so it does
// not wait for anybody.
#include <assert.h>
#include <pthread.h>

volatile int on;

void *sums(void *arg) {
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += on;
    assert(sum <= 3);
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
