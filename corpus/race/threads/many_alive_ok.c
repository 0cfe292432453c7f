// Sixty-four threads alive at once, in step through a barrier: in each phase every thread reads its neighbour's element of
// the phase before. Silent in every mode (a barrier is SIGNAL and WAIT for all).
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

enum { N = 64, PHASES = 5 };
int elements[2][N];
pthread_barrier_t barrier;

void *work(void *arg) {
    int me = (int)(long)arg;
    for (int p = 0; p < PHASES; p++) {
        int value = elements[p % 2][(me + 1) % N];
        if (value != p) abort();
        elements[(p + 1) % 2][me] = value + 1;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, N);
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return elements[1][5] != PHASES;
}
