// expect: output
// After the FFT kernel of SPLASH-2 without its barrier: a phase begins with what the other thread has not written yet.
#include <pthread.h>
#include <stdio.h>

#define N 4
int phase[2 * N];

void *part(void *arg) {
    int me = *(int *)arg, sum = 0;
    for (int i = 0; i < N; i++)
        phase[me * N + i] = me * N + i + 1;
    for (int i = 0; i < N; i++)
        sum += phase[(1 - me) * N + i];
    if (me == 1)
        printf("transposed %d\n", sum);
    return 0;
}

int main(void) {
    pthread_t t;
    int zero = 0, one = 1;
    pthread_create(&t, 0, part, &one);
    part(&zero);
    pthread_join(t, 0);
    return 0;
}
