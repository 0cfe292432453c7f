// Only what comes before the task is created is ordered: the creator changes what the task reads afterwards.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

int input = 1, output; // not static: clang would remove what nobody reads
static atomic_int taken; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
            output = input; // expect(hb hybrid): data-race read #1
            atomic_store_explicit(&taken, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&taken, memory_order_relaxed)) usleep(100);
        input = 2; // expect(hb hybrid): data-race write #1
    }
    return output == 7;
}
