// `taskwait` waits for children and not for theirs. One thread runs all of it: it goes on, and the grandchild comes last.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
    int result = 0, got = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            int local = 0;
#pragma omp task shared(result, local)
            {
#pragma omp task shared(result)
                result = 1; // expect(hb hybrid): data-race write #1
                local = 1;
            }
#pragma omp taskwait
            got = result + local; // expect(hb hybrid): data-race read #1
#pragma omp task shared(got)
            got = 2; // expect(hb hybrid): data-race write #2
#pragma omp task shared(got)
            got = 3; // expect(hb hybrid): data-race write #2
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return got == 7;
}
