// expect: output
// After the FFT kernel of SPLASH-2 without its barrier: a phase begins with what the other thread has not written yet.
#include <pthread.h>
#include <stdio.h>

#define N 4
int phase1[2 * N], phase2[2 * N];

void *part(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < N; i++)
        phase1[me * N + i] = me * N + i + 1;
    for (int i = 0; i < N; i++)
        phase2[me * N + i] = phase1[me * N + i] + phase1[(1 - me) * N + i];
    return 0;
}

int main(void) {
    pthread_t t;
    int one = 1, zero = 0, sum = 0;
    pthread_create(&t, 0, part, &one);
    part(&zero);
    pthread_join(t, 0);
    for (int i = 0; i < N; i++)
        sum += phase2[N + i];
    printf("sum %d\n", sum);
    return 0;
}
