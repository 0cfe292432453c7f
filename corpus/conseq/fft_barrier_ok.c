// expect: nothing
// The twin of fft_barrier_bad.c: with the barrier.
#include <pthread.h>
#include <stdio.h>

#define N 4
int phase[2 * N];
pthread_barrier_t barrier;

void *part(void *arg) {
    int me = *(int *)arg, sum = 0;
    for (int i = 0; i < N; i++)
        phase[me * N + i] = me * N + i + 1;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < N; i++)
        sum += phase[(1 - me) * N + i];
    if (me == 1)
        printf("transposed %d\n", sum);
    return 0;
}

int main(void) {
    pthread_t t;
    int zero = 0, one = 1;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&t, 0, part, &one);
    part(&zero);
    pthread_join(t, 0);
    return 0;
}
