// One thread runs both sections, since the other comes too late. Nothing in the program orders them.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// expect(fast): anything
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int begun, done; // relaxed: fix the order of the run, synchronise nothing

int main(void) {
    int *block = malloc(sizeof *block);
    int value = 0;
#pragma omp parallel num_threads(2)
    {
        int late = atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
        while (late && !atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
#pragma omp sections
        {
#pragma omp section
            {
                *block = 1; // expect(hb hybrid): data-race write #1
                value = 1;  // expect(hb hybrid): data-race write #2
            }
#pragma omp section
            {
                *block = 2; // expect(hb hybrid): data-race write #1
                value++;    // expect(hb hybrid): data-race #2
                atomic_store_explicit(&done, 1, memory_order_relaxed);
            }
        }
    }
    free(block);
    return value == 7;
}
