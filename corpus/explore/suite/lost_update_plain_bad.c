// expect: assertion
//@ bound: 1
// The plain counter++ of three threads: the points are the data accesses that the race detector names, nothing else.
// Fails when: A reads; B reads and writes; A writes.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3 };
int counter;

void *add(void *arg) {
    counter++;
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(counter == THREADS);                         // expect: assertion here
    return 0;
}
