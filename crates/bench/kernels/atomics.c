/* bench: atomics, with work stealing
 * full: 2400000 28
 * reduced: 600000 12
 * quick: 20000 1
 *
 * A loop dealt out by stealing: each thread owns a range packed into one atomic word, takes blocks off its front with
 * compare-and-swap, and steals half of the other's when its own is empty. Blocks write plain results; whoever is second
 * to finish one of two neighbouring blocks joins them, the order given by an acquire-release counter. A shared
 * histogram is kept with relaxed increments, the progress with sequentially consistent ones. */
#include "kernel.h"
#include <pthread.h>
#include <stdatomic.h>

enum { BLOCK = 16, BINS = 1024 };

static long size, rounds, blocks;
static _Atomic uint64_t ranges[THREADS];
static _Atomic uint32_t *arrivals;
static uint64_t *results, *joined;
static _Atomic uint32_t histogram[BINS];
static _Atomic uint64_t progress;
static pthread_barrier_t barrier;

static uint64_t pack(uint64_t first, uint64_t last) { return first << 32 | last; }

static long take(long thread) {
    uint64_t range = atomic_load_explicit(&ranges[thread], memory_order_relaxed);
    for (;;) {
        uint64_t first = range >> 32, last = range & UINT32_MAX;
        if (first >= last) return -1;
        if (atomic_compare_exchange_weak_explicit(&ranges[thread], &range, pack(first + 1, last), memory_order_acq_rel,
                                                  memory_order_acquire))
            return (long)first;
    }
}

static int steal(long thread) {
    long victim = (thread + 1) % THREADS;
    uint64_t range = atomic_load(&ranges[victim]);
    for (;;) {
        uint64_t first = range >> 32, last = range & UINT32_MAX;
        if (first >= last) return 0;
        uint64_t middle = first + (last - first) / 2;
        if (atomic_compare_exchange_strong(&ranges[victim], &range, pack(first, middle))) {
            atomic_store_explicit(&ranges[thread], pack(middle, last), memory_order_release);
            return 1;
        }
    }
}

static void join(long left) {
    if (left < 0 || left + 1 >= blocks) return;
    if (atomic_fetch_add_explicit(&arrivals[left], 1, memory_order_acq_rel) % 2 == 0) return;
    joined[left] = mix(joined[left], results[(left + 1) * BLOCK - 1] ^ results[(left + 1) * BLOCK]);
}

static void run_block(long block, long round) {
    for (long i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
        uint64_t seed = (uint64_t)(i + round);
        uint64_t value = next_random(&seed);
        results[i] += value;
        if (i % 2 == 0) atomic_fetch_add_explicit(&histogram[value % BINS], 1, memory_order_relaxed);
    }
    join(block - 1);
    join(block);
    atomic_fetch_add(&progress, 1);
}

static void *work(void *argument) {
    long thread = (long)argument;
    for (long round = 0; round < rounds; round++) {
        uint64_t first = (uint64_t)(blocks * thread / THREADS), last = (uint64_t)(blocks * (thread + 1) / THREADS);
        atomic_store(&ranges[thread], pack(first, last));
        pthread_barrier_wait(&barrier);
        do {
            long block;
            while ((block = take(thread)) >= 0) run_block(block, round);
        } while (steal(thread));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    blocks = (size + BLOCK - 1) / BLOCK;
    results = allocate((size_t)(blocks * BLOCK), sizeof *results);
    joined = allocate((size_t)blocks, sizeof *joined);
    arrivals = allocate((size_t)blocks, sizeof *arrivals);
    pthread_barrier_init(&barrier, NULL, THREADS);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    check(atomic_load(&progress) == (uint64_t)(blocks * rounds), "every block ran once a round");
    uint64_t hash = 0;
    for (int i = 0; i < BINS; i++) hash = mix(hash, atomic_load(&histogram[i]));
    for (long i = 0; i < blocks; i++) hash = mix(hash, joined[i]);
    print_checksum(hash);
    return 0;
}
