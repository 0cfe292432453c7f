// expect: nothing
// Two phases with a barrier for all three threads between them.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { WRITERS = 2, MEET = WRITERS + 1 };
int part[WRITERS];
pthread_barrier_t barrier;

void *writer(void *arg) {
    part[(intptr_t)arg] = 1;
    pthread_barrier_wait(&barrier);
    return arg;
}

void *reader(void *arg) {
    pthread_barrier_wait(&barrier);
    int sum = 0;
    for (int i = 0; i < WRITERS; i++) sum += part[i];
    assert(sum == WRITERS);
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
