// Double buffering: a grid is computed from one array into the other, a barrier, the arrays change places. Each thread reads its
// neighbours' border cells of the last step. Silent in every mode.
// expect: nothing
#include <pthread.h>

enum { N = 600, T = 3, STEPS = 60 };
double grid[2][N];
pthread_barrier_t barrier;

void *work(void *arg) {
    int from = (int)(long)arg * (N / T), to = from + N / T;
    for (int s = 0; s < STEPS; s++) {
        const double *old = grid[s % 2];
        double *new = grid[1 - s % 2];
        for (int i = from; i < to; i++)
            new[i] = (old[i] + old[(i + 1) % N] + old[(i + N - 1) % N]) / 3;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < N; i++) grid[0][i] = i % 7;
    pthread_barrier_init(&barrier, 0, T);
    pthread_t t[T];
    for (long i = 0; i < T; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < T; i++) pthread_join(t[i], 0);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += grid[0][i];
    return sum < 1700 || sum > 1900;
}
