// expect: assertion
//@ bound: 1
// A thread adds to a variable in a loop; another one sets it. What the first reads it has written
// itself, so it does not wait for anybody.
// Fails when: the variable is set between the first addition and the second.
#include <assert.h>
#include <pthread.h>

volatile long total;

void *adds(void *arg) {
    for (int i = 0; i < 3; i++) total++;
    return arg;
}

void *sets(void *arg) {
    total = 10;
    return arg;
}

int main(void) {
    pthread_t a, s;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&s, 0, sets, 0);
    pthread_join(a, 0);
    pthread_join(s, 0);
    assert(total != 12);                                // expect: assertion here
    return 0;
}
