// One thread runs both tasks, since the other comes to no place where it could take one. Nothing in the program orders them.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

int shared; // not static: clang would remove what nobody reads
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
#pragma omp task
            shared = 1; // expect(hb hybrid): data-race write #1
#pragma omp task
            shared = 2; // expect(hb hybrid): data-race write #1
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return shared == 7;
}
