/* What the kernels share: their two arguments, a generator of numbers, a hash, and the line that ends a run.
 *
 * A kernel is called as `kernel SIZE ROUNDS`: SIZE sets the working set, ROUNDS the work done on it. It prints
 * one checksum that depends on its arguments alone and never on the interleaving, so that a tool that breaks
 * a program is caught. */
#ifndef RADDLE_BENCH_KERNEL_H
#define RADDLE_BENCH_KERNEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2

static inline long kernel_argument(int argc, char **argv, int index, const char *name) {
    char *end = NULL;
    long value = argc > index ? strtol(argv[index], &end, 10) : 0;
    if (value <= 0 || *end != '\0') {
        fprintf(stderr, "usage: %s SIZE ROUNDS (bad %s)\n", argv[0], name);
        exit(2);
    }
    return value;
}

/* splitmix64: a state of one word, and any two seeds give streams that are apart. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x100000001b3) + (hash >> 29);
}

static inline void *allocate(size_t count, size_t size) {
    void *block = calloc(count, size);
    if (block == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return block;
}

static inline void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "check failed: %s\n", what);
        exit(1);
    }
}

static inline void print_checksum(uint64_t checksum) {
    printf("checksum %016llx\n", (unsigned long long)checksum);
}

#endif
