/* bench: dense blocked factorisation with barrier phases
 * full: 1568 1
 * reduced: 640 1
 * quick: 96 1
 *
 * LU without pivoting in blocks of 16, after Splash's lu: blocks are dealt out to the threads in a chequerboard, and
 * each step has three phases with a barrier after each: the diagonal block, the perimeter, the interior. */
#include "kernel.h"
#include <pthread.h>
#include <string.h>

enum { BLOCK = 16 };

static long blocks, rounds;
static double *original, *matrix;
static pthread_barrier_t barrier;

static double *block_at(long row, long column) { return matrix + (row * blocks + column) * BLOCK * BLOCK; }

static int is_mine(long row, long column, long thread) { return (row + column) % THREADS == thread; }

static void factor_diagonal(double *a) {
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++) {
            double scale = a[i * BLOCK + k] /= a[k * BLOCK + k];
            for (int j = k + 1; j < BLOCK; j++) a[i * BLOCK + j] -= scale * a[k * BLOCK + j];
        }
}

static void solve_row(const double *diagonal, double *a) {
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++) {
            double scale = diagonal[i * BLOCK + k];
            for (int j = 0; j < BLOCK; j++) a[i * BLOCK + j] -= scale * a[k * BLOCK + j];
        }
}

static void solve_column(const double *diagonal, double *a) {
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            double scale = a[i * BLOCK + k] /= diagonal[k * BLOCK + k];
            for (int j = k + 1; j < BLOCK; j++) a[i * BLOCK + j] -= scale * diagonal[k * BLOCK + j];
        }
}

static void update(double *a, const double *left, const double *up) {
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            double scale = left[i * BLOCK + k];
            for (int j = 0; j < BLOCK; j++) a[i * BLOCK + j] -= scale * up[k * BLOCK + j];
        }
}

static void factor(long thread) {
    for (long k = 0; k < blocks; k++) {
        if (is_mine(k, k, thread)) factor_diagonal(block_at(k, k));
        pthread_barrier_wait(&barrier);
        for (long i = k + 1; i < blocks; i++) {
            if (is_mine(k, i, thread)) solve_row(block_at(k, k), block_at(k, i));
            if (is_mine(i, k, thread)) solve_column(block_at(k, k), block_at(i, k));
        }
        pthread_barrier_wait(&barrier);
        for (long i = k + 1; i < blocks; i++)
            for (long j = k + 1; j < blocks; j++)
                if (is_mine(i, j, thread)) update(block_at(i, j), block_at(i, k), block_at(k, j));
        pthread_barrier_wait(&barrier);
    }
}

static void *work(void *argument) {
    long thread = (long)argument;
    long cells = blocks * blocks * BLOCK * BLOCK;
    long first = cells * thread / THREADS, last = cells * (thread + 1) / THREADS;
    for (long round = 0; round < rounds; round++) {
        memcpy(matrix + first, original + first, sizeof(double) * (size_t)(last - first));
        pthread_barrier_wait(&barrier);
        factor(thread);
    }
    return NULL;
}

int main(int argc, char **argv) {
    long size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    blocks = (size + BLOCK - 1) / BLOCK;
    long cells = blocks * blocks * BLOCK * BLOCK;
    uint64_t seed = 2;
    original = allocate((size_t)cells, sizeof(double));
    matrix = allocate((size_t)cells, sizeof(double));
    for (long i = 0; i < cells; i++) original[i] = (double)(next_random(&seed) >> 54) / 1024.0;
    /* A dominant diagonal, so that no pivoting is needed. */
    for (long b = 0; b < blocks; b++)
        for (int i = 0; i < BLOCK; i++) original[(b * blocks + b) * BLOCK * BLOCK + i * BLOCK + i] += (double)size * 2;
    pthread_barrier_init(&barrier, NULL, THREADS);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t hash = 0;
    for (long i = 0; i < cells; i += 5) hash = mix(hash, (uint64_t)(int64_t)(matrix[i] * 1048576.0));
    print_checksum(hash);
    return 0;
}
