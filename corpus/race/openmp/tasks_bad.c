// The creator of a task reads its result without taskwait. A relaxed flag keeps it waiting until another thread has the task.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static int result;
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
    int got = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
            result = 42; // expect(hb hybrid): data-race write #1
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
        got = result; // expect(hb hybrid): data-race read #1
#pragma omp taskwait
    }
    return got == 7;
}
