// `single` has a barrier behind it, `master` has none: the other thread may read before it is set.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static int config, seen[2];
static atomic_int set; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            config = 42; // expect(hb hybrid): data-race write #1
            atomic_store_explicit(&set, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&set, memory_order_relaxed)) usleep(100);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 2; i++) seen[i] = config; // expect(hb hybrid): data-race read #1
    }
    return seen[0] != seen[1];
}
