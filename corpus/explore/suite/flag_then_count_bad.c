// expect: assertion
//@ flags: -O0
// A flag is set and then a count raised; who sees the flag sets the count.
// Fails when: A sets the flag; B sees it and sets the count to 7; A reads the 7, and raises it. The read of `count++` is an
// access of its own, which some compilers leave out.
#include <assert.h>
#include <pthread.h>

long flag, count;

void *raise_it(void *arg) {
    flag = 1;
    count++;
    return arg;
}

void *set_it(void *arg) {
    if (flag) count = 7;
    return arg;
}

int main(void) {
    pthread_t p, q;
    pthread_create(&p, 0, raise_it, 0);
    pthread_create(&q, 0, set_it, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    assert(count != 8); // expect: assertion here
}
