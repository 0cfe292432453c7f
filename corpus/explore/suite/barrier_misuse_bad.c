// expect: assertion
//@ bound: 0
// Two phases with one barrier between them, made for one thread too few: the barrier opens before all have written.
// Fails when: the reader and one writer meet at the barrier while the other writer has not run.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { WRITERS = 2, MEET = WRITERS };
int part[WRITERS];
pthread_barrier_t barrier;

void *writer(void *arg) {
    part[(intptr_t)arg] = 1;
    if ((intptr_t)arg == 0) pthread_barrier_wait(&barrier); // "one is enough"
    return arg;
}

void *reader(void *arg) {
    pthread_barrier_wait(&barrier);
    int sum = 0;
    for (int i = 0; i < WRITERS; i++) sum += part[i];
    assert(sum == WRITERS);                             // expect: assertion here
    return arg;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, MEET);
    pthread_t w[WRITERS], r;
    for (intptr_t i = 0; i < WRITERS; i++) pthread_create(&w[i], 0, writer, (void *)i);
    pthread_create(&r, 0, reader, 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(w[i], 0);
    pthread_join(r, 0);
    return 0;
}
