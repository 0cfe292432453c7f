// Computation for the programs of this folder. The amount of computation is fixed, not its time, so that what
// a tool adds to it shows.
#ifndef RADDLE_CORPUS_WORK_H
#define RADDLE_CORPUS_WORK_H

#include <stdint.h>
#include <time.h>
#include <unistd.h>

// About so many milliseconds of one processor.
static inline void work(unsigned ms) {
    uint64_t x = 88172645463325252u + ms;
    for (uint64_t i = 0; i < (uint64_t)ms * 590000u; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    __asm__ volatile("" : : "r"(x));
}

// Differs from run to run: in about one run of three it is true. For what happens under rare schedules only.
static inline int rarely(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t x = (uint64_t)t.tv_nsec / 1000 + (uint64_t)getpid() * 2654435761u;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    return x % 3 == 0;
}

#endif
