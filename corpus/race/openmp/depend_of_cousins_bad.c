// Dependences order the children of one task. These two have different parents. One thread runs all of them.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static int shared;
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
#pragma omp task
            {
#pragma omp task depend(inout : shared)
                shared++; // expect(hb hybrid): data-race #1
#pragma omp taskwait
            }
#pragma omp task
            {
#pragma omp task depend(inout : shared)
                shared--; // expect(hb hybrid): data-race #1
#pragma omp taskwait
            }
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return shared == 7;
}
