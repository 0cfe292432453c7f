/* bench: dense arrays with barrier phases
 * full: 1300 300
 * reduced: 700 30
 * quick: 150 10
 *
 * Jacobi iteration on a square grid, after Splash's ocean: each thread owns a band of rows, reads one row of its
 * neighbour's band, and all meet at a barrier after every sweep. The residual is summed under a mutex. */
#include "kernel.h"
#include <pthread.h>
#include <string.h>

static long size, rounds;
static double *grids[2];
static pthread_barrier_t barrier;
static pthread_mutex_t residual_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t residual_bits;

/* Fixed point, since a sum of doubles would depend on which thread comes first. */
static uint64_t fixed_point(double value) { return (uint64_t)(value * 1048576.0); }

static double sweep(const double *from, double *to, long first, long last) {
    const long width = size;
    double change = 0;
    for (long row = first; row < last; row++) {
        const double *up = from + (row - 1) * width, *here = from + row * width, *down = from + (row + 1) * width;
        double *out = to + row * width, row_change = 0;
        for (long column = 1; column < width - 1; column++) {
            double value = 0.25 * (up[column] + down[column] + here[column - 1] + here[column + 1]);
            double difference = value - here[column];
            row_change += difference * difference;
            out[column] = value;
        }
        change += row_change;
    }
    return change;
}

static void *relax(void *argument) {
    long thread = (long)argument;
    long inner = size - 2;
    long first = 1 + inner * thread / THREADS, last = 1 + inner * (thread + 1) / THREADS;
    for (long round = 0; round < rounds; round++) {
        double change = sweep(grids[round & 1], grids[(round + 1) & 1], first, last);
        pthread_mutex_lock(&residual_lock);
        residual_bits += fixed_point(change);
        pthread_mutex_unlock(&residual_lock);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    check(size >= 4, "the grid has an inside");
    uint64_t seed = 1;
    for (int i = 0; i < 2; i++) grids[i] = allocate((size_t)(size * size), sizeof(double));
    for (long i = 0; i < size * size; i++) grids[0][i] = (double)(next_random(&seed) >> 44) / 1024.0;
    memcpy(grids[1], grids[0], sizeof(double) * (size_t)(size * size));
    pthread_barrier_init(&barrier, NULL, THREADS);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, relax, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t hash = residual_bits;
    for (long i = 0; i < size * size; i += 7) hash = mix(hash, fixed_point(grids[rounds & 1][i]));
    print_checksum(hash);
    return 0;
}
